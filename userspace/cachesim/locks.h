/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What becomes of locks that are handed over, by their threads' futex system calls:
 *
 *	releasing thread	FUTEX_WAKE of one -----> 1 ...... FUTEX_WAIT
 *				|<------- time outside ------->|
 *	acquiring thread	FUTEX_WAIT ..... 0 ............... FUTEX_WAKE of one
 *						 |<- hold time ->|
 *
 * A hold is local if it begins on the CPU that released the lock, else remote. Only holds that
 * begin with a hand-off and end with a call are counted: uncontended acquisitions and releases
 * make no call. A thread that was woken and at once waits for the same word again has not taken
 * the lock. Only waits with FUTEX_WAIT have hold times and times outside: a thread that waits
 * with FUTEX_WAIT_BITSET mostly waits for something that it will not release itself (handoffs.h).
 *
 * handoffs.h finds the hand-offs, and has the order of events. Not thread-safe.
 */
#ifndef LOCKS_H
#define LOCKS_H

#include <stdint.h>

#include "futexes.h"
#include "handoffs.h"

struct locks;

/* Counts are added to `futexes`, which has to outlive the locks. NULL without memory. */
struct locks *locks_new(struct futexes *futexes);

void locks_free(struct locks *l);

/* A region of interest begins: forget the holds of all threads. */
void locks_begin(struct locks *l);

/* It ends: the waiters of handoffs_next() have the lock. */
int locks_end(struct locks *l, const struct handoffs *h);

/*
 * A thread makes system call `number` with these arguments, or returns to its program; `news` is
 * what handoffs.h says of that. These functions and locks_end() return 0, or -1 without memory.
 */
int locks_call(struct locks *l, const struct lock_event *event, uint64_t number,
	       const uint64_t arguments[3], const struct handoff_news *news);
int locks_return(struct locks *l, const struct lock_event *event, const struct handoff_news *news);

#endif
