/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts that cannot be: a PMU that others use too, unseen by this kernel (a hypervisor that
 * takes it away for a while), counts an event for a part of the time only, and nothing says so.
 * One that is there by name only counts nothing at all.
 */
#ifndef FAST_COUNTERS_DOUBTS_H
#define FAST_COUNTERS_DOUBTS_H

#include "counters.h"

#define DOUBTS 3

/*
 * What is impossible in @results of so much time, at most DOUBTS sentences that live forever;
 * how many. What is not available is in no doubt.
 */
int doubts_find(const struct counters_result results[COUNTERS], uint64_t elapsed_ns,
		const char *doubts[DOUBTS]);

#endif
