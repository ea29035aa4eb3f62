/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a program takes and releases locks: registers and stacks of some of its futex calls. With
 * the program's unwind tables they give the functions that led to the call. Not thread-safe.
 */
#ifndef CALL_SITES_H
#define CALL_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocations.h"
#include "futexes.h"

/* Enough for the C library's own frames and the frame of their caller. */
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
 * A thread makes system call `number` with these arguments. The 1st, 4th, 16th... wait of the
 * program for each futex is kept, and the same releases: then *site is a site with address and
 * releases, and the caller fills in the rest. Else *site is NULL. Returns 0, or -1 without
 * memory.
 */
int call_sites_call(struct call_sites *c, uint64_t space, uint64_t number,
		    const uint64_t arguments[3], struct call_site **site);

/* All sites, in the order of their calls; *n gets their number. */
const struct call_site *call_sites_all(const struct call_sites *c, size_t *n);

#endif
