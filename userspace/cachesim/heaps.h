/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the heap of each program begins, by what its C library asks first of all: brk(0). What is
 * allocated there lies at the same distance from it in every run, though the kernel moves the heap.
 * Not thread-safe.
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
 * A program makes system call `number` with this first argument, or goes on with this result. The
 * call returns 0, or -1 without memory.
 */
int heaps_call(struct heaps *h, uint64_t space, uint64_t number, uint64_t argument);
void heaps_return(struct heaps *h, uint64_t space, uint64_t result);

/* Is a return worth a call of heaps_return()? */
bool heaps_expects_return(const struct heaps *h);

/* 0: not known. */
uint64_t heaps_begin_of(const struct heaps *h, uint64_t space);

#endif
