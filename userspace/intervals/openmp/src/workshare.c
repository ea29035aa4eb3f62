// SPDX-License-Identifier: LGPL-2.1-or-later
#include "workshare.h"

#include <stdlib.h>
#include <string.h>

#include "env.h"

#define SPARES 64

/* A new construct for `members` threads. */
static struct workshare *make(struct member *self, unsigned int members)
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

/* Release and acquire: all uses come before the next one's. */
static void leave(struct member *self, struct workshare *share)
{
	if (atomic_fetch_sub_explicit(&share->inside, 1, memory_order_acq_rel) == 1)
		drop(self, share);
}

/* Link to the construct after the caller's; NULL: outside of regions. */
static _Atomic(struct workshare *) *next_of(struct member *self)
{
	if (!self->team)
		return NULL;
	return self->share ? &self->share->next : &self->team->first;
}

bool gomp_workshare_enter(struct member *self, gomp_workshare_init *init, const void *arg)
{
	_Atomic(struct workshare *) *next = next_of(self);
	struct workshare *before = self->share, *there = NULL, *made = NULL;

	/* Acquire: what its creator wrote. */
	if (next)
		there = atomic_load_explicit(next, memory_order_acquire);
	if (!there) {
		made = make(self, gomp_size(self));
		if (init)
			init(made, arg);
		/* Publish it, unless another thread was faster. */
		if (!next || atomic_compare_exchange_strong_explicit(next, &there, made,
								     memory_order_acq_rel,
								     memory_order_acquire))
			there = made;
		else
			drop(self, made);
	}
	self->share = there;
	if (before)
		leave(self, before);
	return made == there;
}

void gomp_workshare_begin(struct member *self)
{
	self->share = self->team->combined;
	self->taken = self->begin = self->end = 0;
}

struct workshare *gomp_workshare_combine(struct team *team)
{
	struct member *self = team->members[0];

	self->share = team->combined = make(self, team->size);
	return self->share;
}

/* After a cancellation, the members may be in different constructs. */
static void leave_for_all(struct member *self, struct team *team)
{
	for (unsigned int i = 0; i < team->size; i++) {
		struct workshare *share = team->members[i]->share;

		if (!share)
			share = atomic_load_explicit(&team->first, memory_order_relaxed);
		while (share) {
			struct workshare *next = atomic_load_explicit(&share->next,
								      memory_order_relaxed);

			leave(self, share);
			share = next;
		}
	}
}

void gomp_workshare_end(struct member *self)
{
	struct team *team = self->team;

	if (gomp_environment.cancellation)
		leave_for_all(self, team);
	else if (self->share)
		drop(self, self->share);
	self->share = NULL;
	GOMP_RENEW(team->combined, NULL);
	if (atomic_load_explicit(&team->first, memory_order_relaxed))
		atomic_store_explicit(&team->first, NULL, memory_order_relaxed);
}

void gomp_workshare_leave(struct member *self)
{
	if (self->share)
		leave(self, self->share);
	self->share = NULL;
}

void gomp_workshare_free_spares(struct member *self)
{
	while (self->spare) {
		struct workshare *share = self->spare;

		self->spare = atomic_load_explicit(&share->next, memory_order_relaxed);
		free(share);
	}
	self->spares = 0;
}
