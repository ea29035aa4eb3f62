/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loops, of long and of unsigned long long alike: as numbers of iterations. */
#ifndef GOMP_LOOP_H
#define GOMP_LOOP_H

#include "workshare.h"

struct loop {
	uint64_t begin, end, step, count;
	uint64_t chunk;
	unsigned int schedule;		/* enum schedule, with MONOTONIC */
	unsigned int size;		/* of the team */
	unsigned int dimensions;	/* doacross; 0: it is none */
	const void *counts;		/* of each dimension: 64 bits */
};

/* With SCHEDULE_RUNTIME: what the caller's ICVs say. */
struct loop gomp_loop_signed(struct member *self, long begin, long end, long step,
			     unsigned int schedule, long chunk);
struct loop gomp_loop_unsigned(struct member *self, bool up, uint64_t begin, uint64_t end,
			       uint64_t step, unsigned int schedule, uint64_t chunk);
struct loop gomp_loop_doacross(struct member *self, unsigned int dimensions, const void *counts,
			       unsigned int schedule, uint64_t chunk);

/*
 * The caller's share of its team's next construct begins: what the loop has beside its
 * iterations, and its first chunk as values of the variable (64 bits each), where the compiler
 * wants these. False: it wants a chunk, and there is none.
 */
bool gomp_loop_start(const struct loop *loop, bool ordered, void *begin, void *end,
		     uintptr_t *reductions, void **memory);
/* A construct's beginning; `share` is nobody's yet. */
void gomp_loop_init(struct workshare *share, const void *loop);
/* The next chunk, as values of the variable. False: none is left. */
bool gomp_loop_take(struct member *self, uint64_t *begin, uint64_t *end);
/* As gomp_loop_take(), of a loop with ordered: in the order of the iterations. */
bool gomp_loop_take_ordered(struct member *self, uint64_t *begin, uint64_t *end);

/* ordered.c */
void gomp_ordered_pass(struct member *self, struct workshare *share);
struct doacross *gomp_doacross_make(const struct loop *loop);

#endif
