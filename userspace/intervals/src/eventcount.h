/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An eventcount: sleep until something may have changed, without losing a wake-up.
 *
 *	sleeper					waker
 *	key = ivl_eventcount_prepare(ec);	make it true;
 *	if (it is true)				ivl_eventcount_notify(ec, 1);
 *		ivl_eventcount_cancel(ec);
 *	else
 *		ivl_eventcount_sleep(ec, key);
 *	look again;
 *
 * Either the sleeper sees that it is true, or the waker sees the sleeper: prepare and notify each
 * have a full barrier between their store and their load. Sleep orders nothing else: read the
 * condition with acquire.
 */
#ifndef IVL_EVENTCOUNT_H
#define IVL_EVENTCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "atomics.h"

struct ivl_eventcount {
	/* Upper half: the epoch; lower half: sleepers that have prepared and not left. */
	_Atomic(uint64_t) state;
};

/* Sleepers of a leaf, or of one worker that sleeps alone. */
struct ivl_sleepers {
	_Atomic(unsigned int) asleep;
	struct ivl_eventcount eventcount;
};

void ivl_eventcount_init(struct ivl_eventcount *ec);
uint64_t ivl_eventcount_prepare(struct ivl_eventcount *ec);
void ivl_eventcount_cancel(struct ivl_eventcount *ec);
/* Returns after a notify, or spuriously. */
void ivl_eventcount_sleep(struct ivl_eventcount *ec, uint64_t key);
/* The same with a deadline (ns of CLOCK_MONOTONIC). True: there was no notify. */
bool ivl_eventcount_sleep_until(struct ivl_eventcount *ec, uint64_t key, uint64_t ns);
/*
 * Wake up to `count` sleepers (UINT_MAX: all). True: there was a sleeper, or one that had prepared;
 * else it costs a fence and a load. A count of 1 lets the woken worker run beside the caller: no
 * hand-off for FAST (Documentation/results.rst).
 */
bool ivl_eventcount_notify(struct ivl_eventcount *ec, unsigned int count);

#endif
