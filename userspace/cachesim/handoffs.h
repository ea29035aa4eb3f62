/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whose release woke whom, by a program's futex system calls, and how long that took:
 *
 *	releasing thread	FUTEX_WAKE of one ---------------> 1
 *	                        |<------- latency ------->|
 *	acquiring thread	FUTEX_WAIT ..................... 0, and then no FUTEX_WAIT
 *								on this word
 *
 * A mutex that was taken by another thread meanwhile makes the woken one wait again, at once: it
 * was handed nothing. Those that wait with FUTEX_WAIT_BITSET have no latency here: by it the C
 * library waits for condition variables, semaphores, read-write locks, ends of threads and whatever
 * has a time limit; plain FUTEX_WAIT is its mutexes, and its barriers, which wake all.
 *
 * A word's waiters are woken in their order, so a return belongs to the oldest release that was not
 * over before its call and that no other return has taken. A thread is known by its address space and its
 * thread pointer, as in futexes.h; nothing is known across address spaces, or of a requeue.
 *
 * Events are to be told in the order in which they are executed. Their times may be by different
 * CPUs' clocks. Not thread-safe.
 */
#ifndef HANDOFFS_H
#define HANDOFFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "futexes.h"
#include "latencies.h"

struct handoffs;

/* Who makes a call, or goes on in its program, where and when. */
struct lock_event {
	uint64_t space, thread;
	unsigned int cpu;
	uint64_t ns;
};

struct handoff {
	uint64_t address;
	struct lock_event released, waited;	/* the calls */
	struct lock_event back;			/* the waiter's return */
	bool plain;				/* FUTEX_WAIT */
	bool early;				/* released before the region of interest */
};

/* What a call or a return says of others; zeroes: nothing. */
struct handoff_news {
	bool taken;		/* the thread of `handoff` has what was handed over to it */
	struct handoff handoff;
	uint64_t left;		/* waiters besides that one which a release has woken... */
	uint64_t address;	/* ...of this word, in the region of interest */
};

/* NULL without memory. */
struct handoffs *handoffs_new(void);

void handoffs_free(struct handoffs *h);

/* A region of interest begins: forget the hand-offs so far, but not who waits. */
void handoffs_begin(struct handoffs *h);

/* Is a return worth a call of handoffs_return()? */
bool handoffs_expects_return(const struct handoffs *h);

/*
 * The thread makes system call `number` with these arguments, and *news gets what that says. Returns
 * 0, or -1 without memory.
 */
int handoffs_call(struct handoffs *h, const struct lock_event *event, uint64_t number,
		  const uint64_t arguments[3], struct handoff_news *news);

/* It goes on in its program with this result. */
void handoffs_return(struct handoffs *h, const struct lock_event *event, uint64_t result,
		     struct handoff_news *news);

/*
 * Those who were woken and have made no call since have the lock if nothing more comes: the first
 * from *i on, which is moved behind it, or NULL.
 */
const struct handoff *handoffs_next(const struct handoffs *h, size_t *i);

/*
 * Add the latencies of the program with that address space to `out`, in their order, those of
 * handoffs_next() last. Returns 0, or -1 without memory.
 */
int handoffs_latencies(const struct handoffs *h, uint64_t program, struct latencies *out);

#endif
