// SPDX-License-Identifier: GPL-2.0
/*
 * Bursts of fork-join tasks with sleep in between, so that every burst finds the workers asleep. A
 * task reads what its spawner has written, increments a counter of its own, and thinks.
 */
#include <error.h>
#include <inttypes.h>
#include <time.h>

#include "common/layout.h"
#include "common/think.h"
#include "tasks.h"

#define BURST 32
/* Longer than a worker without work looks for some. */
#define BETWEEN_NS 200000

static struct padded given;		/* by the spawner, to all tasks of the burst */
static struct padded counters;		/* one for each task of a burst */

static void setup(const struct options *opt)
{
	given = padded_alloc(1, (size_t)opt->cs_lines * opt->line, opt->line);
	counters = padded_alloc(BURST, (size_t)opt->cs_lines * opt->line, opt->line);
}

struct item {
	struct worker worker;
	uint64_t seen;			/* the sum of what was given: no compiler drops it */
};

static void run_item(void *arg)
{
	struct item *item = arg;
	const struct options *opt = item->worker.opt;
	uint64_t seen = 0;

	for (unsigned int i = 0; i < opt->cs_lines; i++)
		seen += counter_value(padded_at(&given, 0), i, opt->line);
	counter_increment(padded_at(&counters, item->worker.id), opt->cs_lines, opt->line);
	item->seen = seen;
	think(&item->worker);
}

struct burst {
	const struct options *opt;
	uint64_t first;
	unsigned int count;
};

static int spawn_all(ivl_interval *self, void *arg)
{
	static struct item items[BURST];
	const struct burst *burst = arg;
	struct ivl_scope scope = IVL_SCOPE_INIT;
	struct ivl_task tasks[BURST];
	int failure = 0;

	(void)self;
	counter_increment(padded_at(&given, 0), burst->opt->cs_lines, burst->opt->line);
	for (unsigned int i = 0; i < burst->count && !failure; i++) {
		unsigned int number = (unsigned int)burst->first + i;

		items[i].worker = (struct worker){ .opt = burst->opt, .id = i,
						   .random = think_seed(burst->opt->seed, number) };
		failure = ivl_spawn(&scope, &tasks[i], run_item, &items[i]);
	}
	ivl_sync(&scope);
	return failure;
}

static void run(const struct options *opt, ivl_runtime *runtime, uint64_t before,
		uint64_t iterations)
{
	for (uint64_t done = 0; done < iterations; done += BURST) {
		uint64_t left = iterations - done;
		struct burst burst = { opt, before + done, left < BURST ? (unsigned int)left : BURST };
		int failure;

		nanosleep(&(struct timespec){ .tv_nsec = BETWEEN_NS }, NULL);
		failure = ivl_run(runtime, spawn_all, &burst);
		if (failure)
			error(1, failure, "a burst of %u tasks", burst.count);
	}
}

static void check(const struct options *opt, struct verdict *verdict)
{
	uint64_t expected = opt->warmup + opt->iterations, done = 0;

	for (unsigned int i = 0; i < BURST; i++)
		done += counter_value(padded_at(&counters, i), 0, opt->line);
	if (done != expected)
		verdict_fail(verdict, "%" PRIu64 " tasks have run, not %" PRIu64, done, expected);
}

const struct tasks tasks_benchmark = {
	.bench = {
		.name = "intervals_idle",
		.fixed_locks = 1,
		.setup = setup,
		.check = check,
	},
	.run = run,
};
