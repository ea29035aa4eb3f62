/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Worksharing constructs of a team: a chain along which each member moves on its own, so that with
 * nowait one may be ahead of another. The first thread to come creates a construct, the last to
 * leave frees it. At the end of a region all are in the last one, except after a cancellation:
 * thread 0 leaves the constructs for all.
 */
#ifndef GOMP_WORKSHARE_H
#define GOMP_WORKSHARE_H

#include "gomp.h"

struct workshare {
	_Atomic(struct workshare *) next;
	atomic_uint inside;		/* members that have not moved on */

	/* A loop: begin + i * step for i below count, modulo 2^64. */
	uint64_t begin, end, step, count;
	uint64_t chunk;
	enum schedule schedule;
	bool careful;			/* taken + chunk may overflow */
	void *copied;			/* single copyprivate */
	struct doacross *doacross;	/* NULL: none, or only one thread */
	_Atomic(void *) copies;		/* of its tasks' reductions; NULL: none */
	_Atomic(void *) memory;		/* requested by the compiler */
	_Alignas(GOMP_LINE) _Atomic(uint64_t) taken;	/* iterations, or sections */
	_Alignas(GOMP_LINE) _Atomic(uint64_t) turn;	/* ordered: iteration whose turn it is */
};

/*
 * Move on to the next construct. True: the caller is the first, and init(it, arg) was called unless
 * NULL.
 */
typedef void gomp_workshare_init(struct workshare *share, const void *arg);
bool gomp_workshare_enter(struct member *self, gomp_workshare_init *init, const void *arg);

/* Begin a region, for each member; end it for all, by thread 0 as the last. */
void gomp_workshare_begin(struct member *self);
void gomp_workshare_end(struct member *self);
/* The construct combined with the region, by thread 0 before the threads start. */
struct workshare *gomp_workshare_combine(struct team *team);
/* Outside of regions: the last one entered. */
void gomp_workshare_leave(struct member *self);
void gomp_workshare_free_spares(struct member *self);

/* Outside of regions a thread is alone. */
static inline unsigned int gomp_size(const struct member *self)
{
	return self->team ? self->team->size : 1;
}

#endif
