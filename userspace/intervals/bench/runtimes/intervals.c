// SPDX-License-Identifier: LGPL-2.1-or-later
/* The intervals runtime, with its defaults. */
#include "runtimes/intervals_par.h"

static int start(unsigned int workers)
{
	struct ivl_config config;
	int error = ivl_config_init(&config);

	if (error)
		return error;
	config.workers = workers;
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

	(void)self;
	if (call->run)
		call->run();
	else
		call->function(call->arg);
	return 0;
}

static void enter(void (*run)(void))
{
	struct call call = { run, NULL, NULL };

	ivl_run(par_runtime, run_call, &call);
}

/* Waits for the end too, which the measured time, up to the task's beginning, leaves out. */
static void submit(void (*function)(void *), void *arg)
{
	struct call call = { NULL, function, arg };

	ivl_run(par_runtime, run_call, &call);
}

const struct bench_runtime bench_runtime = {
	.name = "intervals", .start = start, .stop = stop, .enter = enter, .submit = submit,
	.forms = par_forms,
};
