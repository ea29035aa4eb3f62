// SPDX-License-Identifier: GPL-2.0
/*
 * Water-spatial of S. C. Woo et al., "The SPLASH-2 Programs" (ISCA 1995): the box is a grid
 * of cells, in which molecules are listed by the place of their O. A cell's edge is at
 * least the cutoff: only molecules of the same and of adjacent cells are paired.
 *
 * A worker has a contiguous part of the cells, and what is in them at the time. It finds
 * all forces upon these molecules, and no other worker adds to them; so a pair in two cells
 * is computed twice. Molecules that leave a cell move to another cell's list at the end of
 * each step.
 *
 *	cell lock, one each		its list, while molecules are moved
 *	sum locks			see run.c
 *	barrier, in a step		(1) before the pairs: all molecules are predicted
 *					(2) after them: all forces are complete
 *					(3) before the moves: all molecules are corrected
 *					(4) after them: all lists are complete
 *					(5) with a potential energy: it is complete
 */
#include <inttypes.h>
#include <math.h>

#include "water.h"

/*
 * Lists are made of corrected places, and used with predicted ones: a molecule may go
 * half of this in a step. One that is five times as fast as most at 298 K goes a tenth of
 * that in the longest step.
 */
#define SKIN 0.1

#define NEIGHBOURS 26

struct cell {
	struct splash_lock lock;
	struct molecule *list;
	unsigned int neighbours;
	uint64_t neighbour[NEIGHBOURS];	/* adjacent cells, each once */
};

struct part {
	uint64_t begin, end;
};

static struct cell *cells;
static struct splash_barrier barrier;
static uint64_t side;	/* cells of an edge */

/* Each molecule of a worker's cells. */
#define for_each_molecule(m, w)								\
	for (struct part part_ = part_of(w); part_.begin < part_.end; part_.begin++)	\
		for (struct molecule *m = cells[part_.begin].list; m; m = m->next)

static struct part part_of(const struct splash_worker *w)
{
	struct part part;

	splash_share(side * side * side, w->opt->threads, w->id, &part.begin, &part.end);
	return part;
}

/* The box's far face may round to a cell beyond. */
static uint64_t cell_of(const struct molecule *m)
{
	uint64_t number = 0;

	for (int d = 2; d >= 0; d--) {
		uint64_t place = (uint64_t)(m->motion[0][O][d] / water.box * (double)side);

		number = number * side + (place < side ? place : side - 1);
	}
	return number;
}

static void push(struct cell *cell, struct molecule *m)
{
	m->next = cell->list;
	cell->list = m;
}

static void add_neighbour(uint64_t to, uint64_t other)
{
	struct cell *cell = &cells[to];

	if (other == to)
		return;
	/* With fewer than three cells to an edge, one is adjacent in several directions. */
	for (unsigned int i = 0; i < cell->neighbours; i++)
		if (cell->neighbour[i] == other)
			return;
	cell->neighbour[cell->neighbours++] = other;
}

static void find_neighbours(uint64_t number)
{
	uint64_t x = number % side, y = number / side % side, z = number / side / side;

	for (uint64_t k = side - 1; k <= side + 1; k++)
		for (uint64_t j = side - 1; j <= side + 1; j++)
			for (uint64_t i = side - 1; i <= side + 1; i++)
				add_neighbour(number, ((z + k) % side * side + (y + j) % side) *
					      side + (x + i) % side);
}

static void setup(const struct splash_options *opt)
{
	uint64_t count;

	water_setup(opt);
	side = (uint64_t)fmax(1, floor(water.box / (water.cutoff + SKIN)));
	count = side * side * side;
	if (opt->threads > count)
		splash_refuse("%u threads for %" PRIu64 " cells: choose at most one thread for "
			      "each, more --molecules or a smaller --cutoff", opt->threads, count);

	splash_barrier_init(&barrier, opt->threads);
	cells = splash_alloc(count, sizeof(*cells));
	for (uint64_t c = 0; c < count; c++) {
		splash_lock_init(&cells[c].lock);
		find_neighbours(c);
	}
	for (uint64_t i = 0; i < water.molecules; i++)
		push(&cells[cell_of(&water.molecule[i])], &water.molecule[i]);
}

/* Pairs `m` with a list's molecules, whose forces are found as well if they are `own`. */
static void pair_up(struct molecule *m, struct molecule *list, bool own, bool add,
		    struct pair *sum)
{
	/* The other half of a pair in two cells is found from the other one. */
	double part = own ? 1 : 0.5;
	struct pair pair;

	for (struct molecule *n = list; n; n = n->next) {
		if (!inter_pair(m, n, &pair))
			continue;
		sum->energy += part * pair.energy;
		sum->virial += part * pair.virial;
		if (add)
			forces_add(m->force, pair.force[0]);
		if (add && own)
			forces_add(n->force, pair.force[1]);
	}
}

/* All pairs of a worker's molecules; their energy and virial, and forces if wanted. */
static struct pair pair_up_all(struct splash_worker *w, bool add)
{
	struct part part = part_of(w);
	struct pair sum = { 0 };

	for (uint64_t c = part.begin; c < part.end; c++)
		for (struct molecule *m = cells[c].list; m; m = m->next) {
			pair_up(m, m->next, true, add, &sum);
			for (unsigned int k = 0; k < cells[c].neighbours; k++)
				pair_up(m, cells[cells[c].neighbour[k]].list, false, add, &sum);
		}
	return sum;
}

static void forces(struct splash_worker *w)
{
	double virial = 0;

	for_each_molecule(m, w)
		virial += intra_forces(m);
	sums_add(w, SUM_INTRA_VIRIAL, virial);
	splash_barrier(w, &barrier);
	sums_add(w, SUM_INTER_VIRIAL, pair_up_all(w, true).virial);
	splash_barrier(w, &barrier);
	sums_take_virial(w);
}

static void sum_kinetic(struct splash_worker *w)
{
	double sum = 0;

	for_each_molecule(m, w)
		sum += gear_kinetic_energy(m);
	sums_add(w, SUM_KINETIC, sum);
}

static void sum_potential(struct splash_worker *w)
{
	double energy = pair_up_all(w, false).energy;

	for_each_molecule(m, w)
		energy += intra_energy(m);
	sums_add(w, SUM_POTENTIAL, energy);
	splash_barrier(w, &barrier);
	sums_take_potential(w);
}

/*
 * Takes molecules that have left the cell from its list, and only then, without the
 * lock, puts them into their new cells' lists. Molecules that other workers add to this
 * list meanwhile belong there.
 */
static void move_from(struct splash_worker *w, uint64_t number)
{
	struct cell *cell = &cells[number];
	struct molecule *left = NULL, **link = &cell->list, *m;

	splash_lock(w, &cell->lock);
	while ((m = *link)) {
		gear_wrap(m);
		if (cell_of(m) == number) {
			link = &m->next;
		} else {
			*link = m->next;
			m->next = left;
			left = m;
		}
	}
	splash_unlock(&cell->lock);

	while ((m = left)) {
		struct cell *to = &cells[cell_of(m)];

		left = m->next;
		splash_lock(w, &to->lock);
		push(to, m);
		splash_unlock(&to->lock);
	}
}

static void step(struct splash_worker *w, void (*correct)(struct molecule *m))
{
	struct part part = part_of(w);

	for_each_molecule(m, w)
		gear_predict(m);
	forces(w);
	for_each_molecule(m, w)
		correct(m);
	sum_kinetic(w);
	splash_barrier(w, &barrier);
	sums_take_kinetic(w);
	for (uint64_t c = part.begin; c < part.end; c++)
		move_from(w, c);
	splash_barrier(w, &barrier);
}

static void warmup(struct splash_worker *w)
{
	forces(w);
	for_each_molecule(m, w)
		gear_begin(m);
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

/* Every molecule is in one list, and that is the one of the cell where it is. */
static void check_lists(struct verdict *verdict)
{
	uint64_t listed = 0;

	for (uint64_t c = 0; c < side * side * side; c++)
		for (const struct molecule *m = cells[c].list; m; m = m->next) {
			if (cell_of(m) != c)
				verdict_fail(verdict, "molecule %td is in the list of cell %" PRIu64
					     ", not %" PRIu64, m - water.molecule, c, cell_of(m));
			/* A damaged list may be a ring. */
			if (++listed > water.molecules)
				break;
		}
	if (listed != water.molecules)
		verdict_fail(verdict, "the cells' lists have %" PRIu64 " molecules, not %" PRIu64,
			     listed, water.molecules);
}

static void check(const struct splash_options *opt, struct verdict *verdict)
{
	check_lists(verdict);
	water_check(opt, verdict);
}

const struct splash_program program = {
	.name = "water_spatial",
	.about = "Molecular dynamics of water: only molecules of adjacent cells are looked at. Any "
		 "number of threads, up to one per cell.",
	.numbers = water_numbers,
	.reals = water_reals,
	.setup = setup,
	.warmup = warmup,
	.work = work,
	.check = check,
	.result = water_result,
};
