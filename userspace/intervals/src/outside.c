// SPDX-License-Identifier: LGPL-2.1-or-later
#include "outside.h"

#include <pthread.h>

#include "process.h"

/* Held to start the runtime. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(ivl_runtime *) of_process;

/* NULL: not started, or by the parent. */
static ivl_runtime *started(void)
{
	/* Acquire, from start(). */
	ivl_runtime *runtime = atomic_load_explicit(&of_process, memory_order_acquire);

	return runtime && !ivl_is_parents(runtime) ? runtime : NULL;
}

/*
 * Its threads end with the process, which may end while they run tasks, so no thread joins them. In
 * a forked child the parent's runtime is left as it is.
 */
static ivl_runtime *start(void)
{
	struct ivl_config config;
	ivl_runtime *runtime;

	if (ivl_config_init(&config) || ivl_start(&config, &runtime))
		return NULL;
	runtime->of_process = true;
	for (unsigned int i = 0; i < runtime->threads; i++)
		pthread_detach(runtime->workers[i].thread);
	atomic_store_explicit(&of_process, runtime, memory_order_release);
	return runtime;
}

ivl_runtime *ivl_default(void)
{
	ivl_runtime *runtime = started();

	if (__builtin_expect(runtime != NULL, 1))
		return runtime;
	pthread_mutex_lock(&lock);
	runtime = started();
	if (!runtime)
		runtime = start();
	pthread_mutex_unlock(&lock);
	return runtime;
}

struct call {
	void (*function)(void *arg);
	void *arg;
	bool ran;
};

static int run(ivl_interval *self, void *arg)
{
	struct call *call = arg;

	(void)self;
	call->ran = true;
	call->function(call->arg);
	return 0;
}

bool ivl_run_outside(void (*function)(void *arg), void *arg)
{
	struct call call = { function, arg, false };
	ivl_runtime *runtime = ivl_self() ? NULL : ivl_default();

	if (runtime)
		ivl_run_here(runtime, run, &call);
	return call.ran;
}

void ivl_outside_after_fork(void)
{
	pthread_mutex_init(&lock, NULL);
}
