// SPDX-License-Identifier: LGPL-2.1-or-later
/* The intervals runtime, with its defaults. */
#include <inttypes.h>
#include <stdio.h>

#include "runtimes/intervals_par.h"

static struct ivl_statistics counted;	/* in the last run */
static bool counts;

static int start(unsigned int workers)
{
	struct ivl_config config;
	int error = ivl_config_init(&config);
	char text[16];

	if (error)
		return error;
	config.workers = workers;
	/* Of ivl_default(), for the loop of a thread outside. */
	snprintf(text, sizeof(text), "%u", workers);
	setenv("INTERVALS_WORKERS", text, 1);
	counts = config.statistics;
	return ivl_start(&config, &par_runtime);
}

static void stop(void)
{
	ivl_stop(par_runtime);
}

struct call {
	void (*run)(void);
	par_function *function;
	void *arg;
};

static int run_call(ivl_interval *self, void *arg)
{
	struct call *call = (struct call *)arg;

	if (call->run)
		call->run();
	else
		call->function(call->arg);
	return 0;
}

static void enter(void (*run)(void))
{
	struct call call = { run, NULL, NULL };

	if (counts)
		ivl_statistics_reset(par_runtime);
	ivl_run(par_runtime, run_call, &call);
	ivl_statistics_read(par_runtime, &counted);
}

static void print_counts(void)
{
	const struct ivl_statistics *c = &counted;
	const struct {
		const char *name;
		uint64_t value;
	} all[] = {
		{ "puts", c->puts }, { "takes", c->takes }, { "take_failures", c->take_failures },
		{ "steals", c->steals }, { "steal_failures", c->steal_failures },
		{ "steals_remote", c->steals_remote },
		{ "steal_failures_remote", c->steal_failures_remote }, { "idles", c->idles },
		{ "wakes", c->wakes }, { "fibers", c->fibers },
	};

	if (!counts)
		return;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		printf("%s\"%s\":%" PRIu64, i ? "," : ",\"counts\":{", all[i].name, all[i].value);
	putchar('}');
}

static void here(void (*run)(void))
{
	struct call call = { run, NULL, NULL };

	ivl_run_here(par_runtime, run_call, &call);
}

/* Also waits for the end, after the measured beginning of the task. */
static void submit(void (*function)(void *), void *arg)
{
	struct call call = { NULL, function, arg };

	ivl_run(par_runtime, run_call, &call);
}

const struct bench_runtime bench_runtime = {
	.name = "intervals", .start = start, .stop = stop, .enter = enter, .submit = submit,
	.forms = par_forms, .print_counts = print_counts,
	.here = here, .loop = par_for,
};
