// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Queue, policy and choice of victims are chosen when a runtime starts. The same
 * work under each queue, then under each policy, then under each choice of victims,
 * with what the runtime has counted. All else is the default, which the environment
 * changes: try INTERVALS_WORKERS=8, or INTERVALS_STEAL_HALF=on.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <intervals.h>

#define DEPTH 10

static atomic_uint leaves;

/* A binary tree of asyncs; each leaf is a microsecond or so of work. */
static void grow(void *arg)
{
	const unsigned int depth = *(const unsigned int *)arg + 1;
	volatile unsigned int work = 0;

	if (depth > DEPTH) {
		while (work < 1000)
			work++;
		atomic_fetch_add_explicit(&leaves, 1, memory_order_relaxed);
		return;
	}
	for (int i = 0; i < 2; i++)
		if (ivl_async(grow, &depth, sizeof(depth), NULL))
			grow((void *)&depth);
}

static int run(ivl_interval *self, void *arg)
{
	(void)self;
	return ivl_finish(grow, arg);
}

static void print_row(const char *name, const struct ivl_statistics *s)
{
	const uint64_t counts[] = {
		s->puts, s->takes, s->take_failures, s->steals, s->steal_failures, s->idles, s->wakes,
		s->fibers,
	};

	printf("%-17s", name);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		printf("%7" PRIu64, counts[i]);
	printf("\n");
}

static int measure(const char *name, const struct ivl_config *config)
{
	struct ivl_statistics s;
	unsigned int depth = 0;
	ivl_runtime *runtime;
	int error = ivl_start(config, &runtime);

	if (error) {
		fprintf(stderr, "%s\n", ivl_last_error());
		return error;
	}
	atomic_store(&leaves, 0);
	error = ivl_run(runtime, run, &depth);
	ivl_statistics_read(runtime, &s);
	ivl_stop(runtime);
	print_row(name, &s);
	return error || atomic_load(&leaves) != 1u << DEPTH;
}

static void heading(const char *what)
{
	printf("%-17s%7s%7s%7s%7s%7s%7s%7s%7s\n", what, "puts", "takes", "failed", "steals",
	       "failed", "idles", "wakes", "fibers");
}

int main(void)
{
	struct ivl_config defaults, config;
	int failed = 0;

	if (ivl_config_init(&defaults)) {
		fprintf(stderr, "%s\n", ivl_last_error());
		return EXIT_FAILURE;
	}
	defaults.statistics = true;

	heading("queue");
	config = defaults;
	for (int i = 0; i < IVL_QUEUES; i++) {
		config.queue = i;
		failed |= measure(ivl_queue_name(i), &config);
	}
	heading("policy");
	config = defaults;
	for (int i = 0; i < IVL_POLICIES; i++) {
		config.policy = i;
		failed |= measure(ivl_policy_name(i), &config);
	}
	heading("victims");
	config = defaults;
	for (int i = 0; i < IVL_VICTIM_POLICIES; i++) {
		config.victims = i;
		failed |= measure(ivl_victims_name(i), &config);
	}
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
