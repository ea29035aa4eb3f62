// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a general interval costs at one worker: made, joined to the one before by an
 * edge, released, scheduled, run, ended. Chains of CHAIN intervals, made by one body;
 * prints the best of ROUNDS rounds as a line of JSON.
 */
#include <stdio.h>
#include <time.h>

#include <intervals.h>

#define CHAIN 1000
#define REPEATS 10
#define ROUNDS 200

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int task(ivl_interval *self, void *count)
{
	++*(long *)count;
	return 0;
}

static int chain(ivl_interval *self, void *count)
{
	ivl_interval *before = NULL;
	int error = 0;

	for (int i = 0; i < CHAIN && !error; i++) {
		ivl_interval *interval = ivl_create(self, NULL, task, count, NULL);

		if (!interval)
			return 1;
		if (before) {
			error = ivl_add_edge(ivl_end_point(before), ivl_start_point(interval));
			ivl_release(before);
		}
		before = interval;
	}
	ivl_release(before);
	return error;
}

static int repeat(ivl_interval *self, void *count)
{
	int error = 0;

	for (int i = 0; i < REPEATS && !error; i++)
		error = ivl_inline(NULL, chain, count);
	return error;
}

int main(void)
{
	struct ivl_config config;
	ivl_runtime *runtime;
	double best = 0;
	int error = ivl_config_init(&config);

	config.workers = 1;
	if (!error)
		error = ivl_start(&config, &runtime);
	for (int round = 0; round < ROUNDS && !error; round++) {
		long count = 0;
		double begin = now(), ns;

		error = ivl_run(runtime, repeat, &count);
		ns = (now() - begin) / (CHAIN * REPEATS);
		if (!error && count != CHAIN * REPEATS)
			error = 1;
		if (!round || ns < best)
			best = ns;
	}
	if (error) {
		fprintf(stderr, "interval_cost: %s\n", ivl_last_error());
		return 1;
	}
	ivl_stop(runtime);
	printf("{\"benchmark\": \"interval\", \"workers\": 1, \"ns_per_task\": %.1f}\n", best);
	return 0;
}
