// SPDX-License-Identifier: GPL-2.0
/*
 * Water-nsquared of S. C. Woo et al., "The SPLASH-2 Programs" (ISCA 1995): every molecule
 * is paired with the following half of the molecules, in a ring, and interacts with those
 * within the cutoff.
 *
 * A worker has a contiguous part of the molecules. It sums up forces in an array of its
 * own, and adds that to the molecules' when it has done all its pairs.
 *
 *	molecule lock, one each		its forces, while the workers add theirs
 *	sum locks			see run.c
 *	barrier, in a step		(1) before the pairs: all molecules are predicted
 *					(2) after them: all forces are complete
 *					(3) all molecules are corrected, and the kinetic
 *					energy is complete
 *					(4) with a potential energy: it is complete
 */
#include <inttypes.h>

#include "water.h"

static struct splash_lock *molecule_locks;
static struct splash_barrier barrier;

/* [worker][molecule]: forces that the worker found. */
static double (**found)[ATOMS][3];

/* The worker's part of all molecules. */
struct part {
	uint64_t begin, end;
};

static struct part part_of(const struct splash_worker *w)
{
	struct part part;

	splash_share(water.molecules, w->opt->threads, w->id, &part.begin, &part.end);
	return part;
}

/* How many molecules follow in the ring that are paired with the i-th. */
static uint64_t followers(uint64_t i)
{
	uint64_t n = water.molecules;

	/* Of an even number, the one opposite is paired once. */
	return (n - 1) / 2 + (n % 2 == 0 && i < n / 2);
}

static uint64_t in_ring(uint64_t i)
{
	return i < water.molecules ? i : i - water.molecules;
}

static void setup(const struct splash_options *opt)
{
	water_setup(opt);
	if (opt->threads > water.molecules)
		splash_refuse("%u threads for %" PRIu64 " molecules: choose at most one thread for "
			      "each, or more --molecules", opt->threads, water.molecules);
	splash_barrier_init(&barrier, opt->threads);
	molecule_locks = splash_alloc(water.molecules, sizeof(*molecule_locks));
	for (uint64_t i = 0; i < water.molecules; i++)
		splash_lock_init(&molecule_locks[i]);
	found = splash_alloc(opt->threads, sizeof(*found));
	for (unsigned int i = 0; i < opt->threads; i++)
		found[i] = splash_alloc(water.molecules, sizeof(*found[i]));
}

static void intra(struct splash_worker *w)
{
	struct part part = part_of(w);
	double virial = 0;

	for (uint64_t i = part.begin; i < part.end; i++)
		virial += intra_forces(&water.molecule[i]);
	sums_add(w, SUM_INTRA_VIRIAL, virial);
}

static void inter(struct splash_worker *w)
{
	double (*forces)[ATOMS][3] = found[w->id], virial = 0;
	struct part part = part_of(w);
	uint64_t touched = part.begin;

	for (uint64_t i = part.begin; i < part.end; i++)
		for (uint64_t k = 1; k <= followers(i); k++) {
			uint64_t j = in_ring(i + k);
			struct pair pair;

			if (!inter_pair(&water.molecule[i], &water.molecule[j], &pair))
				continue;
			virial += pair.virial;
			forces_add(forces[i], pair.force[0]);
			forces_add(forces[j], pair.force[1]);
		}
	sums_add(w, SUM_INTER_VIRIAL, virial);

	/* Its own first, so that workers begin at different places of the ring. */
	while (touched < part.end + water.molecules / 2 && touched < part.begin + water.molecules) {
		uint64_t j = in_ring(touched++);

		splash_lock(w, &molecule_locks[j]);
		forces_add(water.molecule[j].force, forces[j]);
		splash_unlock(&molecule_locks[j]);
		for (int atom = 0; atom < ATOMS; atom++)
			for (int d = 0; d < 3; d++)
				forces[j][atom][d] = 0;
	}
}

static void sum_kinetic(struct splash_worker *w)
{
	struct part part = part_of(w);
	double sum = 0;

	for (uint64_t i = part.begin; i < part.end; i++)
		sum += gear_kinetic_energy(&water.molecule[i]);
	sums_add(w, SUM_KINETIC, sum);
}

static void sum_potential(struct splash_worker *w)
{
	struct part part = part_of(w);
	double sum = 0;

	for (uint64_t i = part.begin; i < part.end; i++) {
		sum += intra_energy(&water.molecule[i]);
		for (uint64_t k = 1; k <= followers(i); k++) {
			struct pair pair;

			if (inter_pair(&water.molecule[i], &water.molecule[in_ring(i + k)], &pair))
				sum += pair.energy;
		}
	}
	sums_add(w, SUM_POTENTIAL, sum);
	splash_barrier(w, &barrier);
	sums_take_potential(w);
}

static void forces(struct splash_worker *w)
{
	intra(w);
	splash_barrier(w, &barrier);
	inter(w);
	splash_barrier(w, &barrier);
	sums_take_virial(w);
}

static void step(struct splash_worker *w, void (*correct)(struct molecule *m))
{
	struct part part = part_of(w);

	for (uint64_t i = part.begin; i < part.end; i++)
		gear_predict(&water.molecule[i]);
	forces(w);
	for (uint64_t i = part.begin; i < part.end; i++) {
		correct(&water.molecule[i]);
		gear_wrap(&water.molecule[i]);
	}
	sum_kinetic(w);
	splash_barrier(w, &barrier);
	sums_take_kinetic(w);
}

static void warmup(struct splash_worker *w)
{
	struct part part = part_of(w);

	forces(w);
	for (uint64_t i = part.begin; i < part.end; i++)
		gear_begin(&water.molecule[i]);
	splash_barrier(w, &barrier);
	step(w, gear_correct_first);
	sum_potential(w);
}

static void work(struct splash_worker *w)
{
	for (uint64_t i = 0; i < water.steps; i++) {
		step(w, gear_correct);
		if (sums_energy_wanted(i))
			sum_potential(w);
	}
}

const struct splash_program program = {
	.name = "water_nsquared",
	.about = "Molecular dynamics of water: all pairs of molecules are looked at. Any number of "
		 "threads, up to one per molecule.",
	.numbers = water_numbers,
	.reals = water_reals,
	.setup = setup,
	.warmup = warmup,
	.work = work,
	.check = water_check,
	.result = water_result,
};
