/* SPDX-License-Identifier: GPL-2.0 */
/* The mean and the standard deviation of a figure over several runs. For one thread at a time. */
#ifndef FAST_COUNTERS_SPREAD_H
#define FAST_COUNTERS_SPREAD_H

/* All zero: no run yet. */
struct spread {
	unsigned int runs;
	double mean;
	double squares;		/* the sum of the squared distances from the mean */
};

void spread_add(struct spread *spread, double value);

/* The sample standard deviation in percent of the mean; 0 of less than two runs, or of a mean of 0. */
double spread_percent(const struct spread *spread);

#endif
