// SPDX-License-Identifier: GPL-2.0
/*
 * "Affinity Counter (affinity) consists of two locks that protect two counters.
 * During the first phase of each iteration, each of the locks protects one of
 * the counters and during the second phase each of the locks protect the other
 * counter. A barrier is required between the two phase to ensure atomicity."
 * (section 3.2.1).
 *
 * Half of the threads use either lock. The second phase ends in a barrier too:
 * else the first thread of the next iteration would take a counter under one
 * lock while the last thread of this one still has it under the other.
 */
#include <inttypes.h>
#include <pthread.h>

#include "common/bench.h"
#include "common/layout.h"
#include "common/think.h"

static struct padded locks;
static struct padded counters;
static struct padded barrier;

static void setup(const struct options *opt)
{
	locks = padded_mutexes(2, opt->line);
	counters = padded_alloc(2, (size_t)opt->cs_lines * opt->line, opt->line);
	barrier = padded_alloc(1, sizeof(pthread_barrier_t), opt->line);
	pthread_barrier_init(padded_at(&barrier, 0), NULL, opt->threads);
}

static void iterate(struct worker *w)
{
	unsigned int mine = w->id % 2;

	for (unsigned int phase = 0; phase < 2; phase++) {
		pthread_mutex_lock(padded_at(&locks, mine));
		counter_increment(padded_at(&counters, mine ^ phase), w->opt->cs_lines,
				  w->opt->line);
		pthread_mutex_unlock(padded_at(&locks, mine));
		think(w);
		pthread_barrier_wait(padded_at(&barrier, 0));
	}
}

static void sit_out(struct worker *w)
{
	(void)w;
	pthread_barrier_wait(padded_at(&barrier, 0));
	pthread_barrier_wait(padded_at(&barrier, 0));
}

static void check(const struct options *opt, struct verdict *verdict)
{
	/* Every iteration increments both counters, one in each phase. */
	uint64_t expected = opt->warmup + opt->iterations;

	for (unsigned int i = 0; i < 2; i++) {
		const void *counter = padded_at(&counters, i);
		unsigned int bad = counter_mismatch(counter, opt->cs_lines, opt->line, expected);

		if (bad < opt->cs_lines)
			verdict_fail(verdict, "line %u of counter %u is %" PRIu64 ", not %" PRIu64,
				     bad, i, counter_value(counter, bad, opt->line), expected);
	}
}

const struct bench benchmark = {
	.name = "affinity",
	.paired = true,
	.fixed_locks = 2,
	.setup = setup,
	.iterate = iterate,
	.sit_out = sit_out,
	.check = check,
};
