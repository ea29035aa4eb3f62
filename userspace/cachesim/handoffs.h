/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hand-offs: which release woke which waiter, by a program's futex system calls, and how long it
 * took:
 *
 *	releasing thread	FUTEX_WAKE of one ---------------> 1
 *	                        |<------- latency ------->|
 *	acquiring thread	FUTEX_WAIT ..................... 0, and then no FUTEX_WAIT
 *								on this word
 *
 * If another thread has taken the mutex meanwhile, the woken thread waits again at once: that is
 * no hand-off. Waits with FUTEX_WAIT_BITSET have no latency: by it the C library waits for
 * condition variables, semaphores, read-write locks, ends of threads, and with a time limit. By
 * plain FUTEX_WAIT it waits for mutexes, and for barriers, whose release wakes all.
 *
 * A word's waiters are woken in their order, so a return belongs to the oldest release that did
 * not end before the wait's call and that no other return has taken. A thread is known by its
 * address space and its thread pointer, as in futexes.h. Hand-offs between address spaces, and
 * requeues, are not recognised.
 *
 * The caller reports events in the order of their execution. Their times may be of different CPUs'
 * clocks. Not thread-safe.
 */
#ifndef HANDOFFS_H
#define HANDOFFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "futexes.h"
#include "latencies.h"

struct handoffs;

/* A thread that makes a call, or returns from it, with its CPU and the time. */
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
	bool early;				/* the release precedes the region of interest */
};

/* What a call or a return shows; zeroes: nothing. */
struct handoff_news {
	bool taken;		/* the waiter of `handoff` has the lock */
	struct handoff handoff;
	uint64_t left;		/* waiters that a release in the region of interest left waiting */
	uint64_t address;	/* the word of that release */
};

/* NULL without memory. */
struct handoffs *handoffs_new(void);

void handoffs_free(struct handoffs *h);

/* A region of interest begins: forget the hand-offs so far, but not the waiters. */
void handoffs_begin(struct handoffs *h);

/* Is a return worth a call of handoffs_return()? */
bool handoffs_expects_return(const struct handoffs *h);

/*
 * The thread makes system call `number` with these arguments; *news gets what that shows. Returns
 * 0, or -1 without memory.
 */
int handoffs_call(struct handoffs *h, const struct lock_event *event, uint64_t number,
		  const uint64_t arguments[3], struct handoff_news *news);

/* The thread returns to its program with this result; *news gets what that shows. */
void handoffs_return(struct handoffs *h, const struct lock_event *event, uint64_t result,
		     struct handoff_news *news);

/*
 * At the end, a waiter that was woken and has made no call since has the lock. Returns the
 * hand-off of the first such waiter from index *i on, and moves *i behind it; or NULL.
 */
const struct handoff *handoffs_next(const struct handoffs *h, size_t *i);

/*
 * Add the latencies of the program with that address space to `out`, in their order; the
 * hand-offs of handoffs_next() come last. Returns 0, or -1 without memory.
 */
int handoffs_latencies(const struct handoffs *h, uint64_t program, struct latencies *out);

#endif
