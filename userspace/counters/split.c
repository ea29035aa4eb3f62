// SPDX-License-Identifier: GPL-2.0
#include "counters.h"

/* What should be counted together. */
static const unsigned int units[] = {
	COUNTER_BIT(CYCLES) | COUNTER_BIT(INSTRUCTIONS),
	COUNTER_BIT(L2_REFERENCES) | COUNTER_BIT(L2_MISSES),
	COUNTER_BIT(L3_REFERENCES) | COUNTER_BIT(L3_MISSES),
	COUNTER_BIT(BUS_REQUESTS),
	COUNTER_BIT(CACHE_TO_CACHE),
};

struct split {
	const struct counters_os *os;
	const struct events *events;
	const struct counters_target *target;
	unsigned int *groups;
	int count;
	struct counters_error *error;
};

/* Counts the set for a moment: a group that opens may still find no counters. */
static int count_once(const struct split *split, unsigned int set)
{
	struct counters_result results[COUNTERS];
	struct counters counters;
	int status;

	if (counters_open(&counters, split->os, split->events, set, split->target, split->error))
		return -1;
	status = counters_enable(&counters, split->error);
	if (!status)
		status = counters_read(&counters, results, split->error);
	counters_close(&counters);
	return status;
}

/* 1: the set can be counted at once, 0: it is too large, -1: nothing can be counted. */
static int fits(const struct split *split, unsigned int set)
{
	if (!count_once(split, set))
		return 1;
	return split->error->kind == COUNTERS_TOO_MANY ? 0 : -1;
}

/* Adds the set to the last group, or to a new one. */
static int place(struct split *split, unsigned int set)
{
	unsigned int *last = split->count ? &split->groups[split->count - 1] : NULL;
	int status = last ? fits(split, *last | set) : 0;

	if (status > 0)
		*last |= set;
	if (status)
		return status;
	status = fits(split, set);
	if (status > 0)
		split->groups[split->count++] = set;
	return status;
}

static int place_one_by_one(struct split *split, unsigned int set)
{
	for (int i = 0; i < HARDWARE_COUNTERS; i++)
		/* A set that does not fit alone never fits: its error says so. */
		if (set & COUNTER_BIT(i) && place(split, COUNTER_BIT(i)) <= 0)
			return -1;
	return 0;
}

/* The counters of the set that this CPU can count. */
static int available(const struct split *split, unsigned int set, unsigned int *found)
{
	*found = 0;
	for (int i = 0; i < HARDWARE_COUNTERS; i++) {
		if (!(set & COUNTER_BIT(i)))
			continue;
		if (!count_once(split, COUNTER_BIT(i)))
			*found |= COUNTER_BIT(i);
		else if (split->error->kind != COUNTERS_NONE)
			return -1;
	}
	return 0;
}

int counters_split(const struct counters_os *os, const struct events *events, unsigned int wanted,
		   const struct counters_target *target, unsigned int groups[HARDWARE_COUNTERS],
		   struct counters_error *error)
{
	struct split split = {
		.os = os, .events = events, .target = target, .groups = groups, .error = error,
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		unsigned int set;
		int status;

		if (available(&split, units[i] & wanted, &set))
			return -1;
		status = set ? place(&split, set) : 1;
		if (!status)
			status = place_one_by_one(&split, set);
		if (status < 0)
			return -1;
	}
	return split.count;
}
