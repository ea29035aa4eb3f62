// SPDX-License-Identifier: GPL-2.0
#include "spread.h"

#include <math.h>

/* Welford's algorithm: one pass over the values, and no loss of digits. */
void spread_add(struct spread *spread, double value)
{
	double distance = value - spread->mean;

	spread->runs++;
	spread->mean += distance / spread->runs;
	spread->squares += distance * (value - spread->mean);
}

double spread_percent(const struct spread *spread)
{
	if (spread->runs < 2 || spread->mean == 0)
		return 0;
	return 100 * sqrt(spread->squares / (spread->runs - 1)) / fabs(spread->mean);
}
