/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What becomes of the locks that are handed over, by their threads' futex system calls:
 *
 *	releasing thread	FUTEX_WAKE of one -----> 1 ...... FUTEX_WAIT
 *				|<------- time outside ------->|
 *	acquiring thread	FUTEX_WAIT ..... 0 ............... FUTEX_WAKE of one
 *						 |<- hold time ->|
 *
 * A hold is local if it begins on the CPU that released the lock, else remote. Only holds that
 * begin with a hand-off and end with a call are seen: a lock that is free is taken and released
 * without any. A thread that was woken and waits for the same word again, at once, has taken
 * nothing. Hold times and times outside are those of FUTEX_WAIT alone: who waits with
 * FUTEX_WAIT_BITSET mostly waits for something that is not released by whom it wakes (handoffs.h).
 *
 * Who handed over to whom is said by handoffs.h, and events are told as there. Not thread-safe.
 */
#ifndef LOCKS_H
#define LOCKS_H

#include <stdint.h>

#include "futexes.h"
#include "handoffs.h"

struct locks;

/* What they find is added to `futexes`, which has to outlive them. NULL without memory. */
struct locks *locks_new(struct futexes *futexes);

void locks_free(struct locks *l);

/* A region of interest begins: forget what threads have had to do with locks. */
void locks_begin(struct locks *l);

/* It ends: whom handoffs_next() tells has the lock. */
int locks_end(struct locks *l, const struct handoffs *h);

/*
 * A thread makes system call `number` with these arguments, or goes on in its program, and `news` is
 * what that says of hand-offs. They return 0, or -1 without memory, and so does locks_end().
 */
int locks_call(struct locks *l, const struct lock_event *event, uint64_t number,
	       const uint64_t arguments[3], const struct handoff_news *news);
int locks_return(struct locks *l, const struct lock_event *event, const struct handoff_news *news);

#endif
