/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FAST_COUNTERS_REPORT_H
#define FAST_COUNTERS_REPORT_H

#include <stdio.h>

#include "counters.h"

struct report {
	const struct events *events;
	unsigned int wanted;
	const struct counters_result *results;
	bool roi;
	unsigned int regions;	/* of interest, that were counted */
	uint64_t elapsed_ns;	/* inside them, or of the whole program */
	int wait_status;	/* of the program */
};

void report_text(FILE *out, const struct report *report);
void report_json(FILE *out, const struct report *report);

/* Names the counters that were scaled; writes nothing where there is none. */
void report_scaled(FILE *out, const struct report *report);

/* Each counter and the event that stands for it on this CPU. */
void report_events(FILE *out, const struct events *events);

#endif
