// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How long it takes until another worker begins what one has spawned, by how long there was nothing
 * for it: it still looks, or it sleeps. The quartiles of STEALS, as a line of JSON for each gap.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <intervals.h>

#define STEALS 1000

static double begun;
static atomic_bool ended;

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void pass(double us)
{
	const double begin = now_us();

	while (now_us() - begin < us)
		;
}

/* Long enough to be worth a steal. */
static void child(void *arg)
{
	begun = now_us();
	pass(5);
	atomic_store(&ended, true);
}

static int compare(const void *one, const void *other)
{
	const double difference = *(const double *)one - *(const double *)other;

	return (difference > 0) - (difference < 0);
}

static int steals(ivl_interval *self, void *arg)
{
	const int gap_us = *(int *)arg;
	double us[STEALS];

	for (int i = 0; i < STEALS; i++) {
		struct ivl_scope scope = IVL_SCOPE_INIT;
		struct ivl_task task;
		double begin;

		pass(gap_us);
		atomic_store(&ended, false);
		begin = now_us();
		if (ivl_spawn(&scope, &task, child, NULL))
			return 1;
		/* Before the sync, in which this task would go to the other worker. */
		while (!atomic_load(&ended))
			;
		ivl_sync(&scope);
		us[i] = begun - begin;
	}
	qsort(us, STEALS, sizeof(*us), compare);
	printf("{\"benchmark\": \"steal\", \"gap_us\": %d, \"us\": [%.2f, %.2f, %.2f]}\n", gap_us,
	       us[STEALS / 4], us[STEALS / 2], us[STEALS * 3 / 4]);
	return 0;
}

int main(void)
{
	static const int gaps_us[] = { 5, 10, 20, 50, 1000 };
	struct ivl_config config;
	ivl_runtime *runtime;
	int error = ivl_config_init(&config);

	config.workers = 2;
	config.policy = IVL_HELP_FIRST;
	if (!error)
		error = ivl_start(&config, &runtime);
	for (size_t i = 0; i < sizeof(gaps_us) / sizeof(*gaps_us) && !error; i++) {
		int gap_us = gaps_us[i];

		error = ivl_run(runtime, steals, &gap_us);
	}
	if (error) {
		fprintf(stderr, "steal_cost: %s\n", ivl_last_error());
		return 1;
	}
	ivl_stop(runtime);
	return 0;
}
