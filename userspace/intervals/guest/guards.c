// SPDX-License-Identifier: GPL-2.0
/*
 * As single_ctr, with a guard and intervals instead of a lock and threads: an interval
 * that thinks, and after it one that holds the guard and increments the counter.
 */
#include <errno.h>
#include <error.h>
#include <inttypes.h>

#include "common/layout.h"
#include "common/think.h"
#include "tasks.h"

/* Intervals that exist at a time, at most; a bound on memory. */
#define BATCH 256

static ivl_guard *guard;
static struct padded counter;

static void setup(const struct options *opt)
{
	counter = padded_alloc(1, (size_t)opt->cs_lines * opt->line, opt->line);
}

struct batch {
	const struct options *opt;
	uint64_t first, count;
};

static int think_alone(ivl_interval *self, void *arg)
{
	struct worker *w = arg;

	(void)self;
	think(w);
	return 0;
}

static int increment(ivl_interval *self, void *arg)
{
	const struct options *opt = arg;

	(void)self;
	counter_increment(padded_at(&counter, 0), opt->cs_lines, opt->line);
	return 0;
}

static int make_one(ivl_interval *parent, struct worker *w)
{
	ivl_interval *alone = ivl_create(parent, NULL, think_alone, w, NULL);
	ivl_interval *locked = ivl_create(parent, NULL, increment, (void *)w->opt, NULL);
	int failure = alone && locked ? 0 : ENOMEM;

	if (!failure)
		failure = ivl_add_edge(ivl_end_point(alone), ivl_start_point(locked));
	if (!failure)
		failure = ivl_add_guard(locked, guard);
	if (alone)
		ivl_release(alone);
	if (locked)
		ivl_release(locked);
	return failure;
}

static int make(ivl_interval *self, void *arg)
{
	static struct worker workers[BATCH];
	const struct batch *batch = arg;
	int failure = 0;

	for (uint64_t i = 0; i < batch->count && !failure; i++) {
		workers[i].opt = batch->opt;
		workers[i].random = think_seed(batch->opt->seed, (unsigned int)(batch->first + i));
		failure = make_one(self, &workers[i]);
	}
	return failure;
}

static void run(const struct options *opt, ivl_runtime *runtime, uint64_t before,
		uint64_t iterations)
{
	guard = ivl_guard_create(runtime, NULL);
	if (!guard)
		error(1, ENOMEM, "the guard");
	for (uint64_t done = 0; done < iterations; done += BATCH) {
		struct batch batch = { opt, before + done,
				       iterations - done < BATCH ? iterations - done : BATCH };
		int failure = ivl_run(runtime, make, &batch);

		if (failure)
			error(1, failure, "%" PRIu64 " intervals with a guard", batch.count);
	}
	ivl_guard_release(guard);
}

static void check(const struct options *opt, struct verdict *verdict)
{
	uint64_t expected = opt->warmup + opt->iterations;
	unsigned int bad = counter_mismatch(padded_at(&counter, 0), opt->cs_lines, opt->line,
					    expected);

	if (bad < opt->cs_lines)
		verdict_fail(verdict, "line %u of the counter is %" PRIu64 ", not %" PRIu64, bad,
			     counter_value(padded_at(&counter, 0), bad, opt->line), expected);
}

const struct tasks tasks_benchmark = {
	.bench = {
		.name = "intervals_guards",
		.fixed_locks = 1,
		.setup = setup,
		.check = check,
	},
	.run = run,
};
