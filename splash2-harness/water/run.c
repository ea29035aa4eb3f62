// SPDX-License-Identifier: GPL-2.0
/*
 * What a run of either program is given, sums up and is judged by.
 *
 *	sum lock, one per sum	the sum, while workers add their parts
 */
#include <inttypes.h>
#include <math.h>

#include "water.h"

/* More would not fit the memory of most machines. */
#define MAX_MOLECULES 8000000

/* Of the sum of all momenta's sizes: what rounding leaves. */
#define MAX_MOMENTUM 1e-10

/* Of the sum of all energies' sizes: so does the order in which they are added. */
#define MAX_ENERGY_ERROR 1e-12

struct water water = {
	.molecules = 512,
	.steps = 3,
	.energy_every = 3,
	.dt = 0.15,
	.cutoff = 6,
};

const struct splash_number water_numbers[] = {
	{ "molecules", "molecules of water, a cube: 512 = 8^3; 9261 is the paper's",
	  &water.molecules, 8, MAX_MOLECULES },
	{ "steps", "time steps", &water.steps, 1, 1000000 },
	{ "energy-every", "steps from one potential energy to the next; the last step has one, too",
	  &water.energy_every, 1, 1000000 },
	{ 0 }
};

const struct splash_real water_reals[] = {
	{ "dt", "length of a time step in femtoseconds", &water.dt, 0.01, 0.25 },
	{ "cutoff", "distance in angstrom beyond which molecules do not act upon each other; at "
	  "most half the box", &water.cutoff, 2, 1000 },
	{ 0 }
};

/* On lines of its own. */
struct total {
	struct splash_lock lock;
	double value;
};

static struct total totals[SUMS];
static double virial, kinetic, potential;
static double first_energy, first_kinetic, most_drift;
static bool begun;

void sums_init(void)
{
	for (int i = 0; i < SUMS; i++)
		splash_lock_init(&totals[i].lock);
}

void sums_add(struct splash_worker *w, enum sum which, double part)
{
	splash_lock(w, &totals[which].lock);
	totals[which].value += part;
	splash_unlock(&totals[which].lock);
}

static double take(enum sum which)
{
	double value = totals[which].value;

	totals[which].value = 0;
	return value;
}

void sums_take_virial(struct splash_worker *w)
{
	if (w->id == 0)
		virial = take(SUM_INTRA_VIRIAL) + take(SUM_INTER_VIRIAL);
}

void sums_take_kinetic(struct splash_worker *w)
{
	if (w->id == 0)
		kinetic = take(SUM_KINETIC);
}

void sums_take_potential(struct splash_worker *w)
{
	double energy;

	if (w->id)
		return;
	potential = take(SUM_POTENTIAL);
	energy = kinetic + potential;
	if (!begun) {
		begun = true;
		first_energy = energy;
		first_kinetic = kinetic;
	}
	/* Not fmax(), which would overlook what is not a number. */
	if (!(fabs(energy - first_energy) <= most_drift))
		most_drift = fabs(energy - first_energy);
}

bool sums_energy_wanted(uint64_t step)
{
	return (step + 1) % water.energy_every == 0 || step + 1 == water.steps;
}

void water_setup(const struct splash_options *opt)
{
	uint64_t side = (uint64_t)llround(cbrt((double)water.molecules));

	if (side * side * side != water.molecules)
		splash_refuse("--molecules %" PRIu64 ": the lattice is a cube, such as %" PRIu64
			      " or %" PRIu64, water.molecules, side * side * side,
			      (side + 1) * (side + 1) * (side + 1));
	lattice_make(opt->seed);
	if (2 * water.cutoff > water.box)
		splash_refuse("--cutoff %g: more than half the box, whose edge is %.4f angstrom "
			      "with %" PRIu64 " molecules", water.cutoff, water.box,
			      water.molecules);
	sums_init();
}

/*
 * By which part of the kinetic energy may the whole energy change? The predictor-corrector
 * begins without the fourth and higher derivatives, which makes an error in the first steps
 * that goes with the fourth power of their length, and is below a third of this. What
 * later steps add is less, and grows with their number.
 */
static double max_drift(void)
{
	return 3e-5 * pow(water.dt / 0.15, 4) * (1 + (double)water.steps / 100);
}

/* The last potential energy, once more, from all pairs of molecules. */
static void check_potential(struct verdict *verdict)
{
	double sum = 0, size = 0;

	for (uint64_t i = 0; i < water.molecules; i++) {
		double within = intra_energy(&water.molecule[i]);

		sum += within;
		size += fabs(within);
		for (uint64_t j = 0; j < i; j++) {
			struct pair pair;

			if (!inter_pair(&water.molecule[j], &water.molecule[i], &pair))
				continue;
			sum += pair.energy;
			size += fabs(pair.energy);
		}
	}
	if (!(fabs(potential - sum) <= MAX_ENERGY_ERROR * size))
		verdict_fail(verdict, "the potential energy is %.17g, but %.17g as the sum over "
			     "all pairs", potential, sum);
}

/* Nothing acts from outside, so energy and momentum stay what they are. */
void water_check(const struct splash_options *opt, struct verdict *verdict)
{
	double momentum[3] = { 0 }, size = 0;

	(void)opt;
	check_potential(verdict);
	if (!(most_drift <= max_drift() * first_kinetic))
		verdict_fail(verdict, "the energy changed by %.3g of the kinetic energy, not %.3g "
			     "at most", most_drift / first_kinetic, max_drift());
	for (uint64_t i = 0; i < water.molecules; i++)
		for (int atom = 0; atom < ATOMS; atom++)
			for (int d = 0; d < 3; d++) {
				double p = mass[atom] * water.molecule[i].motion[1][atom][d];

				momentum[d] += p;
				size += fabs(p);
			}
	for (int d = 0; d < 3; d++)
		if (!(fabs(momentum[d]) <= MAX_MOMENTUM * size))
			verdict_fail(verdict, "the momentum is %.3g of all momenta's sizes, not 0",
				     fabs(momentum[d]) / size);
}

double water_result(void)
{
	return kinetic + potential + virial;
}
