/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The names that all counter backends share, and the event for each of them on this CPU.
 * Documentation/counters.rst says what each event counts.
 */
#ifndef FAST_COUNTERS_EVENTS_H
#define FAST_COUNTERS_EVENTS_H

#include <perfmon/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum counter {
	CYCLES,
	INSTRUCTIONS,
	L2_REFERENCES,
	L2_MISSES,
	L3_REFERENCES,
	L3_MISSES,
	BUS_REQUESTS,
	CACHE_TO_CACHE,
	HARDWARE_COUNTERS,	/* the counters below need no PMU */
	CONTEXT_SWITCHES = HARDWARE_COUNTERS,
	MIGRATIONS,
	TASK_CLOCK,
	PAGE_FAULTS,
	COUNTERS
};

/* A set of counters is a mask of their bits. */
#define COUNTER_BIT(counter) (1u << (counter))
#define ALL_COUNTERS (COUNTER_BIT(COUNTERS) - 1)
#define ALL_HARDWARE (COUNTER_BIT(HARDWARE_COUNTERS) - 1)
#define ALL_SOFTWARE (ALL_COUNTERS & ~ALL_HARDWARE)

struct counter_name {
	const char *name;
	const char *unit;
};

extern const struct counter_name counter_names[COUNTERS];

/*
 * The set of a list such as "cycles,l2_misses" or "software"; 0 if a word is no name,
 * and then @bad is that word.
 */
unsigned int counters_parse(const char *list, char *bad, size_t size);

struct event {
	char *name;		/* libpfm's; NULL: this CPU has none, and why_not says why */
	const char *why_not;
	char *refused;		/* why_not, if libpfm cannot encode the event; else NULL */
	struct perf_event_attr attr;
};

struct events {
	char cpu[64];		/* libpfm's name of the PMU, or "generic" */
	bool user_only;
	struct event of[COUNTERS];
};

/*
 * Finds the table's row of @pmu, or of this CPU if it is NULL, and encodes its events. An
 * event that libpfm cannot encode is not available. Returns 0, or -1 with the reason in @error.
 */
int events_resolve(struct events *events, const char *pmu, bool user_only, char *error,
		   size_t size);
void events_free(struct events *events);

/* The PMUs of the table, in order; NULL behind the last. */
const char *events_pmu(unsigned int index);

#endif
