/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loops of long and unsigned long long, in terms of iteration numbers. */
#ifndef GOMP_LOOP_H
#define GOMP_LOOP_H

#include "workshare.h"

struct loop {
	uint64_t begin, end, step, count;
	uint64_t chunk;
	unsigned int schedule;		/* enum schedule, with MONOTONIC */
	unsigned int size;		/* of the team */
	unsigned int dimensions;	/* of doacross; 0: not doacross */
	const void *counts;		/* of each dimension: 64 bits */
};

/* With SCHEDULE_RUNTIME the caller's ICVs apply. */
struct loop gomp_loop_signed(struct member *self, long begin, long end, long step,
			     unsigned int schedule, long chunk);
struct loop gomp_loop_unsigned(struct member *self, bool up, uint64_t begin, uint64_t end,
			       uint64_t step, unsigned int schedule, uint64_t chunk);
struct loop gomp_loop_doacross(struct member *self, unsigned int dimensions, const void *counts,
			       unsigned int schedule, uint64_t chunk);

/*
 * Enter the team's next construct. Sets up reductions and memory, and returns the first chunk as
 * values of the variable (64 bits each), if `begin` is given. False: no chunk is left.
 */
bool gomp_loop_start(const struct loop *loop, bool ordered, void *begin, void *end,
		     uintptr_t *reductions, void **memory);
/* Initialise a construct that no thread has entered. */
void gomp_loop_init(struct workshare *share, const void *loop);
/* The next chunk, as values of the variable. False: none is left. */
bool gomp_loop_take(struct member *self, uint64_t *begin, uint64_t *end);
/* The same for a loop with ordered: in the order of the iterations. */
bool gomp_loop_take_ordered(struct member *self, uint64_t *begin, uint64_t *end);

/* ordered.c */
void gomp_ordered_pass(struct member *self, struct workshare *share);
struct doacross *gomp_doacross_make(const struct loop *loop);

#endif
