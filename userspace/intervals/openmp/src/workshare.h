/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Worksharing constructs of a team: a chain, in which each member goes from one to the next as it
 * meets them; so one may be any number ahead of another (nowait). Who comes first makes a
 * construct, who leaves it last has its memory. Where the region ends all are in the last, but for
 * those of one that was cancelled: thread 0 leaves them for all.
 */
#ifndef GOMP_WORKSHARE_H
#define GOMP_WORKSHARE_H

#include "gomp.h"

struct workshare {
	_Atomic(struct workshare *) next;
	atomic_uint inside;		/* members that have not gone on to the next */

	/* A loop: begin + i * step for i below count, in arithmetic modulo 2^64. */
	uint64_t begin, end, step, count;
	uint64_t chunk;
	enum schedule schedule;
	bool careful;			/* taken + chunk may overflow */
	void *copied;			/* single copyprivate */
	struct doacross *doacross;	/* NULL: none, or alone */
	_Atomic(void *) copies;		/* of the reductions of its tasks; NULL: none */
	_Atomic(void *) memory;		/* that the compiler has asked for */
	_Alignas(GOMP_LINE) _Atomic(uint64_t) taken;	/* iterations, or sections */
	_Alignas(GOMP_LINE) _Atomic(uint64_t) turn;	/* ordered: which iteration's it is */
};

/* Go on to the next construct. True: nobody has been there, and init(it, arg) was called; or NULL. */
typedef void gomp_workshare_init(struct workshare *share, const void *arg);
bool gomp_workshare_enter(struct member *self, gomp_workshare_init *init, const void *arg);

/* A region begins, for each of its members; and ends, for all: by thread 0, when the others have. */
void gomp_workshare_begin(struct member *self);
void gomp_workshare_end(struct member *self);
/* The construct that is one with the region, by thread 0 before the others begin. */
struct workshare *gomp_workshare_combine(struct team *team);
/* Of a thread outside of all regions: the last that it was in. */
void gomp_workshare_leave(struct member *self);
void gomp_workshare_free_spares(struct member *self);

/* Outside of all regions a thread is alone. */
static inline unsigned int gomp_size(const struct member *self)
{
	return self->team ? self->team->size : 1;
}

#endif
