// SPDX-License-Identifier: LGPL-2.1-or-later
/* Loaded and unloaded by test_process.c. */
#include <intervals.h>

int use_intervals(unsigned int workers);

static int count(ivl_interval *self, void *arg)
{
	++*(int *)arg;
	return 0;
}

/* 0: success. */
int use_intervals(unsigned int workers)
{
	struct ivl_config config;
	ivl_runtime *runtime;
	int runs = 0;

	if (ivl_config_init(&config))
		return 1;
	config.workers = workers;
	if (ivl_start(&config, &runtime))
		return 1;
	for (int i = 0; i < 10; i++)
		if (ivl_run(runtime, count, &runs))
			return 1;
	ivl_stop(runtime);
	return runs != 10;
}
