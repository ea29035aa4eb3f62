/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MICROBENCH_RESULTS_H
#define MICROBENCH_RESULTS_H

#include "bench.h"
#include "sched_stat.h"

struct results {
	const char *benchmark;
	const struct options *opt;
	uint64_t elapsed_ns;	/* from the opening of the counting gate to the last finish */
	double *thread_throughput;	/* iterations per second, one for each thread */
	struct sched_stat sched;	/* of the counted part */
	struct verdict verdict;
};

/*
 * Jain's fairness index, (sum x)^2 / (n * sum x^2): 1 when all are equal, 1/n
 * when one has everything. (Jain, Chiu, Hawe, DEC TR-301, 1984.)
 */
double jain_index(const double *x, unsigned int n);

/* On stdout: one line of JSON, or a table for people, as the options ask. */
void results_print(const struct results *results);

#endif
