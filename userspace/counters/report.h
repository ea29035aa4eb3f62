/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FAST_COUNTERS_REPORT_H
#define FAST_COUNTERS_REPORT_H

#include <stdio.h>

#include "counters.h"
#include "session.h"

struct report {
	const struct events *events;
	unsigned int wanted;
	const struct counters_result *results;
	const struct session *session;	/* the program that was counted */
};

void report_text(FILE *out, const struct report *report);
void report_json(FILE *out, const struct report *report);

/* Names the counters that were scaled; writes nothing where there is none. */
void report_scaled(FILE *out, const struct report *report);

/* Each counter and the event that stands for it on this CPU. */
void report_events(FILE *out, const struct events *events);

#endif
