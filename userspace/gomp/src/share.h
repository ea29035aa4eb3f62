/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Worksharing constructs of a team: a chain, in which each member goes from one to the next as it
 * meets them; so one may be any number ahead of another (nowait). Who comes first makes a
 * construct, who leaves it last has its memory.
 */
#ifndef GOMP_SHARE_H
#define GOMP_SHARE_H

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

/* A construct as it begins, for so many members. */
struct workshare *gomp_share_make(struct member *self, unsigned int members);
/* Go on to the next construct. True: nobody has been there, and init(it, arg) was called; or NULL. */
typedef void gomp_share_init(struct workshare *share, const void *arg);
bool gomp_share_enter(struct member *self, gomp_share_init *init, const void *arg);

/* The first construct of a region; and the last, and all that it has not come to. */
void gomp_share_begin(struct member *self);
void gomp_share_leave_all(struct member *self);
void gomp_share_free_spares(struct member *self);

/* Outside of all regions a thread is alone. */
static inline unsigned int gomp_size(const struct member *self)
{
	return self->team ? self->team->size : 1;
}

#endif
