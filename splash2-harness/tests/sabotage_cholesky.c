// SPDX-License-Identifier: GPL-2.0
#include "../cholesky/cholesky.c"
#include "sabotage.h"

/* The last block below the diagonal of the first panel that has one. */
static struct block *below_diagonal(void)
{
	const struct panel *p = factor.panel;

	while (p->blocks == 1)
		p++;
	return &factor.block[p->first_block + p->blocks - 1];
}

/* What the factor is in error by after one subtraction too few, of a small number. */
SABOTAGE(lost_update)
{
	below_diagonal()->value[0] += 1e-9;
}

SABOTAGE(diagonal)
{
	factor.panel[factor.panels - 1].value[0] *= 1 + 1e-9;
}

SABOTAGE(no_number)
{
	below_diagonal()->value[0] = NAN;
}

/* A wrong equation's number. */
SABOTAGE(order)
{
	uint32_t first = factor.order[0];

	factor.order[0] = factor.order[1];
	factor.order[1] = first;
}
