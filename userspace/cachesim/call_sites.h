/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From where locks are taken and released: registers and stacks of some of the program's futex
 * calls, by which whoever has the program's unwind tables knows who called whom. Not thread-safe.
 */
#ifndef CALL_SITES_H
#define CALL_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocations.h"
#include "futexes.h"

/* Enough for the C library's own frames and the one that called it. */
#define CALL_SITE_WORDS 64u

struct call_site {
	uint64_t address;	/* the futex's */
	bool releases;		/* else it waits */
	uint64_t pc;		/* of the instruction that makes the call */
	uint64_t sp, bp;
	unsigned int n;
	uint64_t stack[CALL_SITE_WORDS];	/* from sp up, n words */
	struct allocation_site allocation;	/* of the memory that the futex lies in */
};

struct call_sites;

/* `futexes` has to outlive them. NULL without memory. */
struct call_sites *call_sites_new(struct futexes *futexes);

void call_sites_free(struct call_sites *c);

/* A region of interest begins: forget all. */
void call_sites_begin(struct call_sites *c);

/*
 * A thread makes system call `number` with these arguments. If it is to be kept, *site is one with
 * address and releases, for the caller to fill in, else NULL. Of each futex the program's 1st, 4th,
 * 16th... wait is, and as many releases. Returns 0, or -1 without memory.
 */
int call_sites_call(struct call_sites *c, uint64_t space, uint64_t number,
		    const uint64_t arguments[3], struct call_site **site);

/* All, in the order in which they were made; *n gets their number. */
const struct call_site *call_sites_all(const struct call_sites *c, size_t *n);

#endif
