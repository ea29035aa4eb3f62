/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the heap of each program begins: its C library begins with brk(0). The kernel moves the
 * heap from run to run, but an object's distance from the heap's begin stays the same. Not
 * thread-safe.
 */
#ifndef HEAPS_H
#define HEAPS_H

#include <stdbool.h>
#include <stdint.h>

struct heaps;

/* NULL without memory. */
struct heaps *heaps_new(void);

void heaps_free(struct heaps *h);

/* Does this system call ask where the heap begins? */
bool heaps_is_asked(uint64_t number, uint64_t argument);

/*
 * A program makes system call `number` with this first argument, or returns with this result.
 * heaps_call() returns 0, or -1 without memory.
 */
int heaps_call(struct heaps *h, uint64_t space, uint64_t number, uint64_t argument);
void heaps_return(struct heaps *h, uint64_t space, uint64_t result);

/* Is a return worth a call of heaps_return()? */
bool heaps_expects_return(const struct heaps *h);

/* Where the heap of the program in this address space begins; 0: unknown. */
uint64_t heaps_begin_of(const struct heaps *h, uint64_t space);

#endif
