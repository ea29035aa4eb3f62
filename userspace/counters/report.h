/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FAST_COUNTERS_REPORT_H
#define FAST_COUNTERS_REPORT_H

#include <stdio.h>

#include "counters.h"
#include "session.h"
#include "spread.h"

/*
 * @cpus: the measured CPUs, or NULL; @others: why other programs may have run there, or NULL.
 * @spreads: of several runs, by counter, with @elapsed for their seconds: then @results are means.
 */
struct report {
	const struct events *events;
	unsigned int wanted;
	const struct counters_result *results;
	const struct session *session;	/* the program that was counted */
	const char *cpus;
	const char *others;
	const struct spread *spreads;	/* NULL: one run */
	const struct spread *elapsed;
};

void report_text(FILE *out, const struct report *report);
void report_json(FILE *out, const struct report *report);

/* A set of counters in the form of --events, without a newline. */
void report_set(FILE *out, unsigned int set);

/* Each counter and its event on this CPU. */
void report_events(FILE *out, const struct events *events);

#endif
