// SPDX-License-Identifier: LGPL-2.1-or-later
#include "loop.h"

#include <limits.h>

#include "reduction.h"

static void resolve(const struct member *self, struct loop *loop)
{
	if (loop->schedule == SCHEDULE_RUNTIME) {
		const struct icv *icv = self->task->icv;

		loop->schedule = icv->schedule;
		loop->chunk = (uint64_t)icv->chunk;
	}
	loop->schedule &= ~SCHEDULE_MONOTONIC;
	if (loop->schedule == SCHEDULE_AUTO) {
		loop->schedule = SCHEDULE_STATIC;
		loop->chunk = 0;
	}
	if (loop->schedule != SCHEDULE_STATIC && !loop->chunk)
		loop->chunk = 1;
	loop->size = gomp_size(self);
}

struct loop gomp_loop_signed(struct member *self, long begin, long end, long step,
			     unsigned int schedule, long chunk)
{
	struct loop loop = { .begin = (uint64_t)begin, .end = (uint64_t)end,
			     .step = (uint64_t)step, .schedule = schedule,
			     .chunk = (uint64_t)chunk };

	/* Differences of longs may need all 64 bits. */
	if (step > 0 && begin < end)
		loop.count = ((uint64_t)end - (uint64_t)begin - 1) / (uint64_t)step + 1;
	else if (step < 0 && begin > end)
		loop.count = ((uint64_t)begin - (uint64_t)end - 1) / -(uint64_t)step + 1;
	resolve(self, &loop);
	return loop;
}

struct loop gomp_loop_unsigned(struct member *self, bool up, uint64_t begin, uint64_t end,
			       uint64_t step, unsigned int schedule, uint64_t chunk)
{
	struct loop loop = { .begin = begin, .end = end, .step = step, .schedule = schedule,
			     .chunk = chunk };

	if (up && begin < end)
		loop.count = (end - begin - 1) / step + 1;
	else if (!up && begin > end)
		loop.count = (begin - end - 1) / -step + 1;
	resolve(self, &loop);
	return loop;
}

struct loop gomp_loop_doacross(struct member *self, unsigned int dimensions, const void *counts,
			       unsigned int schedule, uint64_t chunk)
{
	struct loop loop = { .end = *(const uint64_t *)counts, .step = 1, .schedule = schedule,
			     .chunk = chunk, .dimensions = dimensions, .counts = counts };

	loop.count = loop.end;
	resolve(self, &loop);
	return loop;
}

void gomp_loop_init(struct workshare *share, const void *arg)
{
	const struct loop *loop = arg;

	share->begin = loop->begin;
	share->end = loop->end;
	share->step = loop->step;
	share->count = loop->count;
	share->chunk = loop->chunk;
	share->schedule = loop->schedule;
	/* Each thread exceeds the end once at most. */
	share->careful = loop->chunk > (UINT64_MAX - loop->count) / (loop->size + 1);
	/* With one thread all iterations are in order. */
	if (loop->dimensions && loop->size > 1)
		share->doacross = gomp_doacross_make(loop);
}

void gomp_team_first_loop(struct team *team, const struct loop *loop)
{
	gomp_loop_init(gomp_workshare_combine(team), loop);
}

/* One block per thread, or chunks in turn. */
static bool take_static(struct member *self, const struct workshare *share, uint64_t *first,
			uint64_t *last)
{
	const uint64_t size = gomp_size(self), each = share->count / size;
	const uint64_t more = share->count % size, number = self->number;

	if (!share->count)
		return false;
	if (share->chunk) {
		const uint64_t next = number + self->taken++ * size;

		if (next > (share->count - 1) / share->chunk)
			return false;
		*first = next * share->chunk;
		*last = share->count - *first > share->chunk ? *first + share->chunk :
							       share->count;
		return true;
	}
	if (self->taken++)
		return false;
	*first = number * each + (number < more ? number : more);
	*last = *first + each + (number < more);
	return *first < *last;
}

static uint64_t guided(const struct workshare *share, uint64_t left, uint64_t size)
{
	const uint64_t part = (left - 1) / size + 1, chunks = (part - 1) / share->chunk + 1;

	/* Whole chunks: doacross loops find chunks by number. At most 2^64. */
	return chunks > UINT64_MAX / share->chunk ? left : chunks * share->chunk;
}

static bool take_shared(struct member *self, struct workshare *share, uint64_t *first,
			uint64_t *last)
{
	const bool fixed = share->schedule == SCHEDULE_DYNAMIC;
	uint64_t part = share->chunk, left;

	/* Relaxed throughout: only the number is shared. */
	if (fixed && !share->careful) {
		*first = atomic_fetch_add_explicit(&share->taken, part, memory_order_relaxed);
	} else {
		*first = atomic_load_explicit(&share->taken, memory_order_relaxed);
		do {
			if (*first >= share->count)
				return false;
			left = share->count - *first;
			if (!fixed)
				part = guided(share, left, gomp_size(self));
			if (part > left)
				part = left;
		} while (!atomic_compare_exchange_weak_explicit(&share->taken, first, *first + part,
								memory_order_relaxed,
								memory_order_relaxed));
	}
	if (*first >= share->count)
		return false;
	*last = share->count - *first > part ? *first + part : share->count;
	return true;
}

static bool take(struct member *self, struct workshare *share)
{
	uint64_t first, last;

	if (share->schedule == SCHEDULE_STATIC ? !take_static(self, share, &first, &last) :
						 !take_shared(self, share, &first, &last))
		return false;
	self->begin = first;
	self->end = last;
	return true;
}

static void values(const struct member *self, const struct workshare *share, uint64_t *begin,
		   uint64_t *end)
{
	*begin = share->begin + self->begin * share->step;
	/* Not beyond the end, which may be the largest number. */
	*end = self->end == share->count ? share->end : share->begin + self->end * share->step;
}

bool gomp_loop_take(struct member *self, uint64_t *begin, uint64_t *end)
{
	if (!take(self, self->share))
		return false;
	values(self, self->share, begin, end);
	return true;
}

bool gomp_loop_take_ordered(struct member *self, uint64_t *begin, uint64_t *end)
{
	gomp_ordered_pass(self, self->share);
	return gomp_loop_take(self, begin, end);
}

bool gomp_loop_start(const struct loop *loop, bool ordered, void *begin, void *end,
		     uintptr_t *reductions, void **memory)
{
	struct member *self = gomp_member();

	gomp_workshare_enter(self, gomp_loop_init, loop);
	self->taken = self->begin = self->end = 0;
	if (reductions)
		gomp_reductions_of_share(self, reductions);
	if (memory)
		gomp_workshare_memory(self->share, memory);
	if (!begin)
		return true;
	return ordered ? gomp_loop_take_ordered(self, begin, end) :
			 gomp_loop_take(self, begin, end);
}
