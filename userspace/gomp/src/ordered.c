// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Ordered: chunks in turn. And doacross loops: of each iteration of the outermost loop, up to
 * where in the inner ones its thread has come.
 */
#include <stdarg.h>

#include "loop.h"
#include "park.h"

static bool not_yet(const void *word, unsigned long arg)
{
	const struct member *self = (const struct member *)arg;

	/* Acquire: what was written in the iterations before. */
	return atomic_load_explicit((const _Atomic(uint64_t) *)word, memory_order_acquire) !=
	       self->begin;
}

static void wait_for_turn(struct member *self, struct workshare *share)
{
	gomp_spin_while(not_yet(&share->turn, (unsigned long)self), gomp_spins());
	while (not_yet(&share->turn, (unsigned long)self))
		gomp_park(&share->turn, not_yet, (unsigned long)self);
}

void gomp_ordered_pass(struct member *self, struct workshare *share)
{
	if (self->begin == self->end)
		return;
	wait_for_turn(self, share);
	atomic_store_explicit(&share->turn, self->end, memory_order_release);
	self->begin = self->end;
	gomp_unpark_all(&share->turn);
}

GOMP_PUBLIC void GOMP_ordered_start(void)
{
	struct member *self = gomp_member();

	if (self->team && self->share && self->begin != self->end)
		wait_for_turn(self, self->share);
}

GOMP_PUBLIC void GOMP_ordered_end(void)
{
}

struct doacross {
	unsigned int dimensions;
	const uint64_t *counts;		/* of the inner loops */
	_Atomic(uint64_t) *posts;	/* of each outer iteration: the last inner one, plus 1 */
};

struct doacross *gomp_doacross_make(unsigned int dimensions, const uint64_t *counts)
{
	const size_t inner = dimensions - 1;
	struct doacross *doacross = gomp_allocate(sizeof(*doacross) +
						  (inner + counts[0]) * sizeof(uint64_t));
	uint64_t *own = (uint64_t *)(doacross + 1);

	for (size_t i = 0; i < inner; i++)
		own[i] = counts[i + 1];
	doacross->dimensions = dimensions;
	doacross->counts = own;
	doacross->posts = (_Atomic(uint64_t) *)(own + inner);
	return doacross;
}

/* The number of an iteration of the inner loops. */
static uint64_t position(const struct doacross *doacross, const uint64_t *at)
{
	uint64_t number = 0;

	for (unsigned int i = 1; i < doacross->dimensions; i++)
		number = number * doacross->counts[i - 1] + at[i];
	return number;
}

static void post(const uint64_t *at)
{
	struct member *self = gomp_member();
	struct doacross *doacross = self->share ? self->share->doacross : NULL;

	if (!doacross || gomp_size(self) == 1)
		return;
	atomic_store_explicit(&doacross->posts[at[0]], position(doacross, at) + 1,
			      memory_order_release);
	gomp_unpark_all(&doacross->posts[at[0]]);
}

static bool not_posted(const void *word, unsigned long arg)
{
	/* Acquire, from post(). */
	return atomic_load_explicit((const _Atomic(uint64_t) *)word, memory_order_acquire) <= arg;
}

static void wait_for(uint64_t first, va_list rest)
{
	struct member *self = gomp_member();
	struct doacross *doacross = self->share ? self->share->doacross : NULL;
	uint64_t number = 0;

	if (!doacross || gomp_size(self) == 1)
		return;
	for (unsigned int i = 1; i < doacross->dimensions; i++)
		number = number * doacross->counts[i - 1] + va_arg(rest, uint64_t);
	gomp_spin_while(not_posted(&doacross->posts[first], number), gomp_spins());
	while (not_posted(&doacross->posts[first], number))
		gomp_park(&doacross->posts[first], not_posted, number);
}

GOMP_PUBLIC void GOMP_doacross_post(long *counts)
{
	post((const uint64_t *)counts);
}

GOMP_PUBLIC void GOMP_doacross_ull_post(unsigned long long *counts)
{
	post((const uint64_t *)counts);
}

GOMP_PUBLIC void GOMP_doacross_wait(long first, ...)
{
	va_list rest;

	va_start(rest, first);
	wait_for((uint64_t)first, rest);
	va_end(rest);
}

GOMP_PUBLIC void GOMP_doacross_ull_wait(unsigned long long first, ...)
{
	va_list rest;

	va_start(rest, first);
	wait_for(first, rest);
	va_end(rest);
}
