// SPDX-License-Identifier: GPL-2.0
/*
 * Thinking time, and a barrier: glibc's, which wakes all in one call, or one whose
 * last thread wakes each other thread by a call, as the barriers of some runtimes do.
 */
#include <inttypes.h>
#include <pthread.h>

#include "../common/layout.h"
#include "../common/think.h"
#include "locks.h"

static struct padded barrier;
static struct padded passed;	/* of each thread: the times that it may go on */
static struct padded counters;
static atomic_uint arrived;
static unsigned int all;

static void setup(const struct options *opt)
{
	all = opt->threads;
	barrier = padded_alloc(1, sizeof(pthread_barrier_t), opt->line);
	pthread_barrier_init(padded_at(&barrier, 0), NULL, all);
	passed = padded_alloc(all, sizeof(atomic_uint), opt->line);
	counters = padded_alloc(all, sizeof(uint64_t), opt->line);
}

static void wait_each(struct worker *w)
{
	atomic_uint *mine = padded_at(&passed, w->id);
	unsigned int before = atomic_load(mine);

	if (atomic_fetch_add(&arrived, 1) + 1 < all) {
		while (atomic_load(mine) == before)
			lock_futex(mine, FUTEX_WAIT, before, 0);
		return;
	}
	atomic_store(&arrived, 0);
	for (unsigned int i = 0; i < all; i++) {
		atomic_uint *other = padded_at(&passed, i);

		atomic_fetch_add(other, 1);
		if (other != mine)
			lock_futex(other, FUTEX_WAKE, 1, 0);
	}
}

static void sit_out(struct worker *w)
{
	if (EACH)
		wait_each(w);
	else
		pthread_barrier_wait(padded_at(&barrier, 0));
}

static void iterate(struct worker *w)
{
	think(w);
	counter_increment(padded_at(&counters, w->id), 1, w->opt->line);
	sit_out(w);
}

static void check(const struct options *opt, struct verdict *verdict)
{
	for (unsigned int i = 0; i < opt->threads; i++) {
		uint64_t value = counter_value(padded_at(&counters, i), 0, opt->line);

		if (value != thread_iterations(opt, i))
			verdict_fail(verdict, "counter %u is %" PRIu64 ", not %" PRIu64, i, value,
				     thread_iterations(opt, i));
	}
}

const struct bench benchmark = {
	.name = LOCK,
	.description = "no lock: all threads wait for the last of them",
	.fixed_locks = 1,
	.setup = setup,
	.iterate = iterate,
	.sit_out = sit_out,
	.check = check,
};
