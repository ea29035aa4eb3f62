/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An eventcount: sleep until something may have changed, and lose no wake-up.
 *
 *	sleeper					waker
 *	key = ivl_eventcount_prepare(ec);	make it true;
 *	if (it is true)				ivl_eventcount_notify(ec, 1);
 *		ivl_eventcount_cancel(ec);
 *	else
 *		ivl_eventcount_sleep(ec, key);
 *	look again;
 *
 * Either the sleeper sees that it is true, or the waker sees the sleeper: prepare
 * and notify each have a full barrier between their store and their load. Neither
 * sleep nor its return orders anything else: read what is waited for with acquire.
 */
#ifndef IVL_EVENTCOUNT_H
#define IVL_EVENTCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "atomics.h"

struct ivl_eventcount {
	/* Upper half: the epoch; lower half: how many have prepared and not yet left. */
	_Atomic(uint64_t) state;
};

void ivl_eventcount_init(struct ivl_eventcount *ec);
uint64_t ivl_eventcount_prepare(struct ivl_eventcount *ec);
void ivl_eventcount_cancel(struct ivl_eventcount *ec);
/* Returns after a notify since prepare, or for no reason. */
void ivl_eventcount_sleep(struct ivl_eventcount *ec, uint64_t key);
/* As it, until that time (ns of CLOCK_MONOTONIC) at most. True: there was no notify. */
bool ivl_eventcount_sleep_until(struct ivl_eventcount *ec, uint64_t key, uint64_t ns);
/*
 * Wakes up to `count` sleepers (UINT_MAX: all); true: there was one, or one that had
 * prepared. Where nobody has, a fence and a load. One by one is for work that one can do
 * beside the caller, and no hand-off for FAST (Documentation/intervals-measurements.rst);
 * all is for what everybody waits for.
 */
bool ivl_eventcount_notify(struct ivl_eventcount *ec, unsigned int count);

#endif
