/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hand-off latencies, by a program's futex system calls:
 *
 *	releasing thread	FUTEX_WAKE of one ---------------> 1
 *	                        |<------- latency ------->|
 *	acquiring thread	FUTEX_WAIT ..................... 0, and then no FUTEX_WAIT
 *								on this word
 *
 * A mutex that was taken by another thread meanwhile makes the woken one wait again, at once: it
 * was handed nothing. Nor were those that wait with FUTEX_WAIT_BITSET, by which the C library
 * waits for condition variables, semaphores, read-write locks, ends of threads and whatever
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
#include <stdint.h>

#include "latencies.h"

struct handoffs;

/* NULL without memory. */
struct handoffs *handoffs_new(void);

void handoffs_free(struct handoffs *h);

/* A region of interest begins: forget the hand-offs so far, but not who waits. */
void handoffs_begin(struct handoffs *h);

/* Is a return worth a call of handoffs_return()? */
bool handoffs_expects_return(const struct handoffs *h);

/* The thread makes system call `number` with these arguments. Returns 0, or -1 without memory. */
int handoffs_call(struct handoffs *h, uint64_t space, uint64_t thread, uint64_t number,
		  const uint64_t arguments[3], uint64_t now_ns);

/* It goes on in its program with this result. */
void handoffs_return(struct handoffs *h, uint64_t space, uint64_t thread, uint64_t result,
		     uint64_t now_ns);

/*
 * Add the latencies of the program with that address space to `out`, in their order. Who was woken
 * and has made no call since has the lock. Returns 0, or -1 without memory.
 */
int handoffs_latencies(const struct handoffs *h, uint64_t program, struct latencies *out);

#endif
