// SPDX-License-Identifier: GPL-2.0
#include "../water/run.c"
#include "../water/water_spatial.c"
#include "sabotage.h"

/* A force that only one of two molecules felt. */
SABOTAGE(one_sided)
{
	water.molecule[0].motion[1][O][2] *= 1 + 1e-6;
}

SABOTAGE(energy_lost)
{
	most_drift = 5e-5 * first_kinetic;
}

/* A pair of molecules that was not found. */
SABOTAGE(lost_pair)
{
	potential *= 1 + 1e-9;
}

SABOTAGE(no_number)
{
	most_drift = NAN;
}

SABOTAGE(momentum_no_number)
{
	water.molecule[1].motion[1][H2][0] = NAN;
}

/* A molecule that was dropped as it was moved from one cell to another. */
SABOTAGE(lost_molecule)
{
	struct cell *cell = cells;

	while (!cell->list)
		cell++;
	cell->list = cell->list->next;
}

SABOTAGE(wrong_cell)
{
	struct molecule *m = cells[0].list;

	cells[0].list = m->next;
	push(&cells[1], m);
}
