/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SPLASH_REPORT_H
#define SPLASH_REPORT_H

#include "common/sched_stat.h"
#include "program.h"

/* What a run has shown. */
struct report {
	const struct splash_program *program;
	const struct splash_options *opt;
	uint64_t elapsed_ns;		/* from the opening of the counting gate to the last finish */
	double *busy_ns;		/* on a CPU in the counted phase, one for each thread */
	struct sched_stat sched;	/* of the counted phase, as all that follows */
	struct splash_profile profile;	/* sum over the threads */
	double result;
	struct verdict verdict;
};

/* On stdout: one line of JSON, or a table for people, as the options ask. */
void report_print(const struct report *report);

#endif
