/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What programs have allocated, and where: each piece of memory that malloc() and similar
 * functions have returned, until it is freed or overlaps a newer piece. A call is known by its
 * thread, as in futexes.h, and ends where the thread executes the return address with the stack
 * of before the call. Not thread-safe.
 */
#ifndef ALLOCATIONS_H
#define ALLOCATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocators.h"

/* Enough for the frame of operator new or strdup(), and the frame of its caller. */
#define ALLOCATION_WORDS 16u

/* Registers and stack where an allocating function begins, as in call_sites.h. n is 0: unknown. */
struct allocation_site {
	uint64_t pc, sp, bp;
	unsigned int n;
	uint64_t stack[ALLOCATION_WORDS];
};

struct allocation_call {
	enum allocator function;
	uint64_t space, thread;
	uint64_t arguments[3];
	struct allocation_site site;
};

struct allocations;

/* NULL without memory. */
struct allocations *allocations_new(void);

void allocations_free(struct allocations *a);

/* A program begins in this address space: forget what the program before it allocated. */
void allocations_forget(struct allocations *a, uint64_t space);

/* A function is called. Returns 0, or -1 without memory. */
int allocations_call(struct allocations *a, const struct allocation_call *call);

/* May a call return to this address? */
bool allocations_expects_return(const struct allocations *a, uint64_t pc);

/* The call that ends when its thread executes pc with this stack pointer; or NULL. */
const struct allocation_call *allocations_over(const struct allocations *a, uint64_t space,
					       uint64_t thread, uint64_t pc, uint64_t sp);

/* The call returns this memory, 0: none. Returns 0, or -1 without memory. */
int allocations_return(struct allocations *a, const struct allocation_call *over, uint64_t address);

/* Where the memory at the address was allocated; valid up to the next call; NULL: unknown. */
const struct allocation_site *allocations_at(const struct allocations *a, uint64_t space,
					     uint64_t address);

#endif
