/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program's futex system calls by the futex's address: the locks of its hand-offs.
 *
 * A thread is known by its address space and its thread pointer, because a call may return on
 * another CPU.
 */
#ifndef FUTEXES_H
#define FUTEXES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a system call does to a lock. */
enum futex_operation {
	FUTEX_DOES_ELSE,
	FUTEX_WAITS,		/* plain FUTEX_WAIT, as the C library's mutexes do */
	FUTEX_WAITS_OTHERWISE,	/* FUTEX_WAIT_BITSET */
	FUTEX_RELEASES,		/* it would wake one thread */
};

/* Whose futexes are "the program's". */
enum futexes_program {
	FUTEXES_OWN = 1,	/* of the program whose marker begins the region of interest */
	FUTEXES_NEXT,		/* of the first program that begins in it */
};

/* Spans of modelled time: their number, and their sum. */
struct lock_times {
	uint64_t count, ns;
};

/* What became of the hand-offs: locks.h. */
struct lock_use {
	uint64_t left;		/* waiters that hand-offs left waiting */
	uint64_t local, remote;	/* hand-offs to a waiter on the releasing CPU, on another CPU */
	uint64_t moved;		/* both, if the waiter had begun to wait on another CPU */
	struct lock_times handoff, hold_local, hold_remote, outside;
	uint64_t waits, releases;	/* calls that call_sites.h has seen */
};

struct futex {
	uint64_t space;		/* the address space */
	uint64_t address;
	uint64_t wakes;		/* calls that would wake one thread */
	uint64_t handoffs;	/* calls that woke one thread */
	uint64_t pi_unlocks;	/* releases of a lock with priority inheritance, by the kernel */
	struct lock_use use;
};

struct futexes;

enum futex_operation futex_operation(uint64_t number, const uint64_t arguments[3]);

/* NULL without memory. */
struct futexes *futexes_new(enum futexes_program program);

void futexes_free(struct futexes *f);

/* Forget everything: a region of interest begins, with a marker in `space`. */
void futexes_begin(struct futexes *f, uint64_t space);

/* Is a return worth a call of futexes_return()? */
bool futexes_expects_return(const struct futexes *f);

/*
 * The thread makes system call `number` with these arguments, or returns to its
 * program with this result. They return 0, or -1 without memory.
 */
int futexes_call(struct futexes *f, uint64_t space, uint64_t thread, uint64_t number,
		 const uint64_t arguments[3]);
int futexes_return(struct futexes *f, uint64_t space, uint64_t thread, uint64_t result);

/* The counts of a futex, valid up to the next call; new ones are 0. NULL without memory. */
struct futex *futexes_at(struct futexes *f, uint64_t space, uint64_t address);

/* All futexes with counts, by space and address; *n gets their number. */
const struct futex *futexes_all(const struct futexes *f, size_t *n);

/* The program's address space; 0: it has not begun. */
uint64_t futexes_program_space(const struct futexes *f);

#endif
