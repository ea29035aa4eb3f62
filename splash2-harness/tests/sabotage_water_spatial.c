// SPDX-License-Identifier: GPL-2.0
#include "../water/run.c"
#include "../water/water_spatial.c"
#include "sabotage.h"

/* A force that only one of two molecules felt. */
static void one_sided(void)
{
	water.molecule[0].motion[1][O][2] *= 1 + 1e-6;
}

static void energy_lost(void)
{
	most_drift = 5e-5 * first_kinetic;
}

/* A pair of molecules that was not found. */
static void lost_pair(void)
{
	potential *= 1 + 1e-9;
}

static void no_number(void)
{
	most_drift = NAN;
}

static void momentum_no_number(void)
{
	water.molecule[1].motion[1][H2][0] = NAN;
}

/* A molecule that was dropped as it was moved from one cell to another. */
static void lost_molecule(void)
{
	struct cell *cell = cells;

	while (!cell->list)
		cell++;
	cell->list = cell->list->next;
}

static void wrong_cell(void)
{
	struct molecule *m = cells[0].list;

	cells[0].list = m->next;
	push(&cells[1], m);
}

const struct sabotage sabotages[] = {
	{ "one_sided", one_sided },
	{ "energy_lost", energy_lost },
	{ "lost_pair", lost_pair },
	{ "no_number", no_number },
	{ "momentum_no_number", momentum_no_number },
	{ "lost_molecule", lost_molecule },
	{ "wrong_cell", wrong_cell },
	{ 0 }
};
