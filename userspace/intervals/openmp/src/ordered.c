// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Ordered: chunks in turn. Doacross loops: how far each iteration of the outermost loop has come in
 * the inner ones.
 */
#include <inttypes.h>
#include <stdarg.h>

#include "loop.h"
#include "park.h"

static bool not_yet(const void *word, unsigned long arg)
{
	const struct member *self = (const struct member *)arg;

	/* Acquire: what earlier iterations wrote. */
	return atomic_load_explicit((const _Atomic(uint64_t) *)word, memory_order_acquire) !=
	       self->begin;
}

static void wait_for_turn(struct member *self, struct workshare *share)
{
	gomp_spin_while(not_yet(&share->turn, (unsigned long)self));
	while (not_yet(&share->turn, (unsigned long)self))
		gomp_park_for_lock(&share->turn, not_yet, (unsigned long)self);
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

/*
 * Static schedules determine the thread of an iteration: the last post is in a line per thread.
 * Otherwise it is in a word per chunk of the least size, which one thread executes.
 */
#define LINE (GOMP_LINE / sizeof(uint64_t))

struct doacross {
	unsigned int dimensions, threads;
	const uint64_t *counts;		/* of the inner loops */
	uint64_t count, chunk;		/* outer loop; chunk 0: a block per thread */
	bool is_static;
	_Atomic(uint64_t) *posts;	/* number of an iteration of all the loops, plus 1 */
};

struct doacross *gomp_doacross_make(const struct loop *loop)
{
	const bool is_static = loop->schedule == SCHEDULE_STATIC;
	const size_t inner = loop->dimensions - 1;
	/* Static: one line more, since the first is shared. */
	const uint64_t words = is_static ? (loop->size + 1) * LINE : loop->count / loop->chunk + 1;
	struct doacross *doacross;
	uint64_t *own;

	if (words > SIZE_MAX / sizeof(uint64_t) / 2)
		gomp_fatal("out of memory: %" PRIu64 " chunks of a doacross loop", words);
	doacross = gomp_allocate(sizeof(*doacross) + (inner + words) * sizeof(uint64_t));
	own = (uint64_t *)(doacross + 1);
	for (size_t i = 0; i < inner; i++)
		own[i] = ((const uint64_t *)loop->counts)[i + 1];
	doacross->dimensions = loop->dimensions;
	doacross->threads = loop->size;
	doacross->counts = own;
	doacross->count = loop->count;
	doacross->chunk = loop->chunk;
	doacross->is_static = is_static;
	doacross->posts = (_Atomic(uint64_t) *)(own + inner);
	return doacross;
}

/* The thread of this iteration of the outer loop (take_static()). */
static uint64_t thread_of(const struct doacross *doacross, uint64_t iteration)
{
	const uint64_t each = doacross->count / doacross->threads;
	const uint64_t more = doacross->count % doacross->threads;

	if (doacross->chunk)
		return iteration / doacross->chunk % doacross->threads;
	if (iteration < more * (each + 1))
		return iteration / (each + 1);
	return (iteration - more) / each;
}

static _Atomic(uint64_t) *post_of(const struct doacross *doacross, uint64_t iteration)
{
	return doacross->posts + (doacross->is_static ?
				  (thread_of(doacross, iteration) + 1) * LINE :
				  iteration / doacross->chunk);
}

/* The present doacross loop; NULL: none, or only one thread. */
static const struct doacross *current(void)
{
	const struct member *self = gomp_member();

	return self->share ? self->share->doacross : NULL;
}

static void post(const uint64_t *at)
{
	const struct doacross *doacross = current();
	_Atomic(uint64_t) *word;
	uint64_t number = at[0];

	if (!doacross)
		return;
	for (unsigned int i = 1; i < doacross->dimensions; i++)
		number = number * doacross->counts[i - 1] + at[i];
	word = post_of(doacross, at[0]);
	atomic_store_explicit(word, number + 1, memory_order_release);
	gomp_unpark_all(word);
}

static bool not_posted(const void *word, unsigned long arg)
{
	/* Acquire, from post(). */
	return atomic_load_explicit((const _Atomic(uint64_t) *)word, memory_order_acquire) <= arg;
}

static void wait_for(uint64_t first, va_list rest)
{
	const struct doacross *doacross = current();
	_Atomic(uint64_t) *word;
	uint64_t number = first;

	if (!doacross)
		return;
	for (unsigned int i = 1; i < doacross->dimensions; i++)
		number = number * doacross->counts[i - 1] + va_arg(rest, uint64_t);
	word = post_of(doacross, first);
	gomp_spin_while(not_posted(word, number));
	while (not_posted(word, number))
		gomp_park_for_lock(word, not_posted, number);
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
