/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FAST_LATENCY_REPORT_H
#define FAST_LATENCY_REPORT_H

#include <stdio.h>

#include "session.h"
#include "shared.h"

/* A histogram, or the reason why there is none. */
struct latency {
	const char *name;
	const struct histogram *histogram;
	const char *why_not;	/* NULL: it was measured */
	const char *unseen;	/* why no event of this program is visible; NULL: it is */
	const char *if_none;	/* advice if it has no event; NULL: none */
};

struct report {
	const struct session *session;
	const struct latency *latencies;
	unsigned int count;
	const struct shared *shared;
};

void report_text(FILE *out, const struct report *report);

/* One object on one line. */
void report_json(FILE *out, const struct report *report);

#endif
