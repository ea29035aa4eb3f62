/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts that cannot be: a PMU that others use too, unseen by this kernel (a hypervisor that
 * takes it away for a while), counts an event for a part of the time only, and nothing says so.
 */
#ifndef FAST_COUNTERS_DOUBTS_H
#define FAST_COUNTERS_DOUBTS_H

#include "counters.h"

#define DOUBTS 5

/*
 * What is impossible in @results, at most DOUBTS sentences that live forever; how many.
 * What is not available is in no doubt.
 */
int doubts_find(const struct counters_result results[COUNTERS], const char *doubts[DOUBTS]);

#endif
