/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Impossible counts. If a hypervisor takes the PMU away for a while, an event is counted for a part
 * of the time only, and the kernel does not know. A PMU that exists by name only counts nothing.
 */
#ifndef FAST_COUNTERS_DOUBTS_H
#define FAST_COUNTERS_DOUBTS_H

#include "counters.h"

#define DOUBTS 3

/*
 * What is impossible in @results: at most DOUBTS sentences, which live forever. Returns their
 * number. A result that is not available is not doubted.
 */
int doubts_find(const struct counters_result results[COUNTERS], uint64_t elapsed_ns,
		const char *doubts[DOUBTS]);

#endif
