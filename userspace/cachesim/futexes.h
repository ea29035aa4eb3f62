/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which locks a program's hand-offs come from: its futex system calls, by the
 * futex's address.
 *
 * A thread is known by its address space and its thread pointer, because it may
 * return from a call on another CPU than it made it on.
 */
#ifndef FUTEXES_H
#define FUTEXES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whose futexes are "the program's". */
enum futexes_program {
	FUTEXES_OWN = 1,	/* of the program whose marker begins the region of interest */
	FUTEXES_NEXT,		/* of the first program that begins in it */
};

struct futex {
	uint64_t space;		/* the address space */
	uint64_t address;
	uint64_t wakes;		/* calls that would wake one thread */
	uint64_t handoffs;	/* of these, that woke one */
	uint64_t pi_unlocks;	/* a lock with priority inheritance, by the kernel */
};

struct futexes;

/* NULL without memory. */
struct futexes *futexes_new(enum futexes_program program);

void futexes_free(struct futexes *f);

/* Forget everything: a region of interest begins, with a marker in `space`. */
void futexes_begin(struct futexes *f, uint64_t space);

/* Is a return worth a call of futexes_return()? */
bool futexes_expects_return(const struct futexes *f);

/*
 * The thread makes system call `number` with these arguments, or goes on in its
 * program with this result. They return 0, or -1 without memory.
 */
int futexes_call(struct futexes *f, uint64_t space, uint64_t thread, uint64_t number,
		 const uint64_t arguments[3]);
int futexes_return(struct futexes *f, uint64_t space, uint64_t thread, uint64_t result);

/* All futexes of which something was counted, by space and address; *n gets their number. */
const struct futex *futexes_all(const struct futexes *f, size_t *n);

/* The program's space; 0 when it has not begun. */
uint64_t futexes_program_space(const struct futexes *f);

#endif
