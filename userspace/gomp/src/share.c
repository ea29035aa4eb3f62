// SPDX-License-Identifier: LGPL-2.1-or-later
#include "share.h"

#include <stdlib.h>
#include <string.h>

#define SPARES 64

struct workshare *gomp_share_make(struct member *self, unsigned int members)
{
	struct workshare *share = self->spare;

	if (share) {
		self->spare = atomic_load_explicit(&share->next, memory_order_relaxed);
		self->spares--;
	} else {
		share = gomp_allocate_aligned(GOMP_LINE, sizeof(*share));
	}
	memset(share, 0, sizeof(*share));
	atomic_store_explicit(&share->inside, members, memory_order_relaxed);
	return share;
}

static void drop(struct member *self, struct workshare *share)
{
	free(share->doacross);
	free(share->memory);
	if (self->spares == SPARES) {
		free(share);
		return;
	}
	atomic_store_explicit(&share->next, self->spare, memory_order_relaxed);
	self->spare = share;
	self->spares++;
}

/* Release and acquire: what others did with it comes before its next use. */
static void leave(struct member *self, struct workshare *share)
{
	if (atomic_fetch_sub_explicit(&share->inside, 1, memory_order_acq_rel) == 1)
		drop(self, share);
}

/* What comes after `before`: the caller's, if nobody was faster; acquire: what they wrote. */
static struct workshare *append(struct member *self, struct workshare *before,
				struct workshare *made)
{
	struct workshare *there = NULL;

	if (!before || !self->team ||
	    atomic_compare_exchange_strong_explicit(&before->next, &there, made,
						    memory_order_acq_rel, memory_order_acquire))
		return made;
	drop(self, made);
	return there;
}

bool gomp_share_enter(struct member *self, gomp_share_init *init, const void *arg)
{
	struct workshare *before = self->share, *there = NULL, *made = NULL;

	if (before && self->team)
		there = atomic_load_explicit(&before->next, memory_order_acquire);
	if (!there) {
		made = gomp_share_make(self, gomp_size(self));
		if (init)
			init(made, arg);
		there = append(self, before, made);
	}
	self->share = there;
	if (before)
		leave(self, before);
	return made == there;
}

void gomp_share_leave_all(struct member *self)
{
	struct workshare *share = self->share;

	while (share) {
		struct workshare *next = atomic_load_explicit(&share->next, memory_order_acquire);

		leave(self, share);
		share = next;
	}
	self->share = NULL;
}

void gomp_share_begin(struct member *self)
{
	gomp_share_leave_all(self);
	self->share = self->team->first;
	self->taken = self->begin = self->end = 0;
}

void gomp_share_free_spares(struct member *self)
{
	while (self->spare) {
		struct workshare *share = self->spare;

		self->spare = atomic_load_explicit(&share->next, memory_order_relaxed);
		free(share);
	}
	self->spares = 0;
}
