// SPDX-License-Identifier: LGPL-2.1-or-later
/* Starting and stopping. */
#include <errno.h>
#include <limits.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach.h"
#include "config.h"
#include "deadlock.h"
#include "feedback.h"
#include "idle.h"
#include "model.h"
#include "process.h"
#include "external.h"
#include "switching.h"
#include "thread.h"
#include "waking.h"
#include "watch/watch.h"
#include "worker.h"

static int check(const struct ivl_config *config)
{
	if (config->queue >= IVL_QUEUES || config->policy >= IVL_POLICIES ||
	    config->victims >= IVL_VICTIM_POLICIES || config->places >= IVL_PLACES_KINDS)
		return ivl_error(EINVAL, "config: no such queue, policy, victims or places");
	if (config->stack_bytes < IVL_LEAST_STACK)
		return ivl_error(EINVAL, "config: stack_bytes is %zu, the minimum is %d",
				 config->stack_bytes, IVL_LEAST_STACK);
	if (!config->fibers_per_worker || !config->adapt_interval || !config->adapt_stack ||
	    !config->queue_capacity)
		return ivl_error(EINVAL, "config: fibers_per_worker, adapt_interval, adapt_stack "
				 "and queue_capacity must not be 0");
	if (config->workers > IVL_MOST)
		return ivl_error(EINVAL, "config: workers is %u, the maximum is %u",
				 config->workers, IVL_MOST);
	if (config->tied && (config->policy == IVL_WORK_FIRST || config->feedback))
		return ivl_error(EINVAL, "config: tied (INTERVALS_TIED) cannot be combined with "
				 "work-first or feedback (INTERVALS_POLICY, INTERVALS_FEEDBACK)");
	if (config->threshold_low >= config->threshold_high)
		return ivl_error(EINVAL, "config: threshold_low (INTERVALS_THRESHOLD_LOW) is %u, "
				 "threshold_high (INTERVALS_THRESHOLD_HIGH) %u: it must be greater",
				 config->threshold_low, config->threshold_high);
	return 0;
}

static int out_of_memory(void)
{
	return ivl_error(ENOMEM, "start: out of memory");
}

/* Aligned and zeroed; NULL: ENOMEM. */
static void *lines(size_t count, size_t bytes)
{
	void *memory = aligned_alloc(IVL_LINE, count * bytes);

	if (memory)
		memset(memory, 0, count * bytes);
	return memory;
}

int ivl_worker_init(struct ivl_worker *worker, ivl_runtime *runtime,
		    const struct ivl_place *place, unsigned int number)
{
	const struct ivl_config *config = &runtime->config;
	int error = 0;

	worker->runtime = runtime;
	worker->number = number;
	worker->place = place;
	worker->fiber = &worker->base;
	worker->statistics = config->statistics ? &worker->counts : NULL;
	if (runtime->watched) {
		worker->watch = ivl_watch_create();
		if (!worker->watch)
			return ENOMEM;
	}
	/* A traced worker spawns by spawn_slowly() (forkjoin.c) under all policies. */
	worker->spawns_work_first = config->policy == IVL_WORK_FIRST && !worker->watch;
	/* Work-first could move a tied spawner to another thread. */
	worker->policy.start = ivl_async_starts[config->tied ? IVL_HELP_FIRST : config->policy];
	/* SLAW, section III-A: steals are frequent at the beginning. */
	worker->policy.help_first = true;
	worker->policy.until = config->adapt_interval;
	worker->chooser = ivl_chooser_create(config, runtime->topology, runtime->mask, place,
					     number);
	if (!worker->chooser)
		return ENOMEM;
	worker->pool = runtime->shared;
	if (!worker->pool)
		error = ivl_pool_create(config->queue, config->queue_capacity,
					place->node, &worker->pool);
	if (!error && config->queue == IVL_QUEUE_CHASE_LEV && !worker->statistics &&
	    !worker->watch && !runtime->mask)
		worker->deque = (struct ivl_open_ring *)worker->pool->queue;
	return error;
}

void ivl_worker_destroy(struct ivl_worker *worker)
{
	if (worker->pool && worker->pool != worker->runtime->shared)
		ivl_pool_destroy(worker->pool);
	if (worker->chooser)
		ivl_chooser_destroy(worker->chooser);
	ivl_watch_destroy(worker->watch);
}

static int create_worker(ivl_runtime *runtime, unsigned int number)
{
	runtime->workers[number].mask = runtime->mask;
	if (runtime->tied_workers) {
		runtime->workers[number].tied = &runtime->tied_workers[number];
		ivl_tied_init(&runtime->tied_workers[number], &runtime->workers[number]);
	}
	return ivl_worker_init(&runtime->workers[number], runtime,
			       ivl_topology_place(runtime->topology, number), number);
}

/* Few, if there are few, so that other workers do not run out of them. */
static unsigned int fibers_kept(const struct ivl_config *config)
{
	const unsigned int part = config->fibers_per_worker / IVL_FIBERS_KEPT_PART;

	return part > IVL_FIBERS_KEPT ? IVL_FIBERS_KEPT : part ? part : 1;
}

static void destroy(ivl_runtime *runtime)
{
	if (runtime->model)
		ivl_model_destroy(runtime->model);
	for (unsigned int i = 0; runtime->topology && runtime->workers &&
	     i < runtime->topology->workers; i++) {
		struct ivl_worker *worker = &runtime->workers[i];

		ivl_fiber_put_all(worker);
		ivl_worker_destroy(worker);
	}
	ivl_externals_destroy(runtime);
	if (runtime->shared)
		ivl_pool_destroy(runtime->shared);
	if (runtime->mask)
		ivl_stealability_destroy(runtime->mask);
	ivl_feedback_destroy(runtime->feedback);
	ivl_deadlock_destroy(runtime->deadlock);
	ivl_depot_destroy(&runtime->asyncs);
	if (runtime->stacks)
		ivl_stacks_destroy(runtime->stacks);
	for (unsigned int i = 0;
	     runtime->place_states && i < ivl_topology_places(runtime->topology);
	     i++) {
		ivl_mailbox_destroy(&runtime->place_states[i].mailbox);
		ivl_mailbox_destroy(&runtime->place_states[i].high);
		ivl_mailbox_destroy(&runtime->place_states[i].stackless);
	}
	for (unsigned int i = 0; runtime->tied_workers && i < runtime->topology->workers; i++)
		if (runtime->tied_workers[i].worker)
			ivl_tied_destroy(&runtime->tied_workers[i]);
	free(runtime->tied_workers);
	free(runtime->place_states);
	free(runtime->workers);
	if (runtime->topology)
		ivl_topology_destroy(runtime->topology);
	pthread_mutex_destroy(&runtime->gate);
	free(runtime);
}

static unsigned int fibers_most(const struct ivl_config *config, unsigned int workers)
{
	return config->fibers_per_worker > UINT_MAX / workers ? UINT_MAX :
								config->fibers_per_worker * workers;
}

static struct ivl_worker *own_worker(ivl_runtime *runtime)
{
	struct ivl_worker *worker = runtime->workers;

	while (!pthread_equal(worker->thread, pthread_self()))
		worker++;
	return worker;
}

static void *worker_main(void *arg)
{
	ivl_runtime *runtime = arg;
	char signal_stack[IVL_SIGNAL_STACK];
	struct ivl_worker *worker;
	bool failed;

	pthread_mutex_lock(&runtime->gate);
	failed = runtime->failed;
	ivl_idle_gate_passed(runtime);
	pthread_mutex_unlock(&runtime->gate);
	if (failed || atomic_load_explicit(&runtime->stopping, memory_order_relaxed))
		return NULL;

	worker = own_worker(runtime);
	ivl_thread_enter(worker, signal_stack);
	if (worker->feedback)
		ivl_feedback_enter(worker);
	/* Otherwise the first tasks would wait for each other's mmap(). */
	if (runtime->fibers_kept > 1)
		ivl_fiber_refill(worker);
	ivl_thread_work(worker);
	ivl_thread_leave(signal_stack);
	return NULL;
}

/* Leave unblocked: signals that a thread causes itself, and the profilers'. */
static void block_signals(sigset_t *before)
{
	static const int kept[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT,
				    SIGPROF };
	sigset_t blocked;

	sigfillset(&blocked);
	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		sigdelset(&blocked, kept[i]);
	pthread_sigmask(SIG_BLOCK, &blocked, before);
}

static unsigned int thread_count(const ivl_runtime *runtime)
{
	return runtime->threadless ? 0 : runtime->topology->workers;
}

/* The program's default may be too small for the signal stack. */
static int create_thread(ivl_runtime *runtime, pthread_t *thread)
{
	pthread_attr_t attributes;
	size_t bytes;
	int error;

	pthread_attr_init(&attributes);
	if (!pthread_attr_getstacksize(&attributes, &bytes) && bytes < IVL_BASE_STACK)
		pthread_attr_setstacksize(&attributes, IVL_BASE_STACK);
	error = pthread_create(thread, &attributes, worker_main, runtime);
	pthread_attr_destroy(&attributes);
	return error;
}

/* For each worker, or as many as can be had. They wait at the gate. */
static int create_threads(ivl_runtime *runtime)
{
	const unsigned int wanted = thread_count(runtime);
	sigset_t signals;
	int error = 0;

	runtime->workers = lines(runtime->topology->workers, sizeof(*runtime->workers));
	if (!runtime->workers)
		return out_of_memory();
	/* A handler would run on a fiber and interrupt an arbitrary task. */
	block_signals(&signals);
	while (runtime->threads < wanted && !error) {
		error = create_thread(runtime, &runtime->workers[runtime->threads].thread);
		runtime->threads += !error;
	}
	pthread_sigmask(SIG_SETMASK, &signals, NULL);
	if (error == EAGAIN && runtime->threads)
		return 0;
	return error ? ivl_error(error, "start: worker %u of %u: %s", runtime->threads + 1, wanted,
				 strerror(error)) : 0;
}

/* Places and stacks, for the configured workers. */
static int lay_out(ivl_runtime *runtime)
{
	const struct ivl_config *config = &runtime->config;
	int error = ivl_topology_create(config, &runtime->topology);

	if (!error)
		runtime->stacks = ivl_stacks_create(config->stack_bytes,
						    fibers_most(config, runtime->topology->workers));
	if (error == ENOMEM || (!error && !runtime->stacks))
		return out_of_memory();
	/* Before the threads take the memory that is left. */
	if (!error && !runtime->threadless && !ivl_stacks_exceed(runtime->stacks))
		return ivl_error(ENOMEM, "start: no memory for a stack of %zu KiB "
				 "(INTERVALS_STACK, or config.stack_bytes)",
				 config->stack_bytes >> 10);
	return error;
}

/* The same for as many workers as there are threads. */
static int lay_out_again(ivl_runtime *runtime)
{
	const unsigned int asked_for = runtime->topology->workers;
	int error;

	ivl_stacks_destroy(runtime->stacks);
	ivl_topology_destroy(runtime->topology);
	runtime->stacks = NULL;
	runtime->topology = NULL;
	runtime->config.workers = runtime->threads;
	error = lay_out(runtime);
	/* Each given place needs a worker. */
	if (error == EINVAL)
		return ivl_error(EAGAIN, "start: threads for only %u of %u workers, with %u "
				 "places given", runtime->threads, asked_for,
				 runtime->config.place_count);
	if (!error)
		ivl_process_say_fewer(runtime->threads, asked_for);
	return error;
}

static int create(ivl_runtime *runtime)
{
	const struct ivl_config *config = &runtime->config;
	const unsigned int workers = runtime->topology->workers;
	int error = 0;

	runtime->place_states = lines(ivl_topology_places(runtime->topology),
				      sizeof(*runtime->place_states));
	if (config->tied && !runtime->threadless)
		runtime->tied_workers = lines(workers, sizeof(*runtime->tied_workers));
	if (!runtime->place_states ||
	    (config->tied && !runtime->threadless && !runtime->tied_workers))
		return ENOMEM;
	runtime->fibers_kept = fibers_kept(config);
	for (unsigned int i = 0; i < ivl_topology_places(runtime->topology); i++) {
		struct ivl_place_state *state = &runtime->place_states[i];

		ivl_mailbox_init(&state->mailbox);
		ivl_mailbox_init(&state->high);
		ivl_mailbox_init(&state->stackless);
		ivl_eventcount_init(&state->sleepers.eventcount);
	}
	if (config->victims == IVL_VICTIMS_THRESHOLD ||
	    config->victims == IVL_VICTIMS_DOMAINS_THRESHOLD) {
		runtime->mask = ivl_stealability_create(workers, config->threshold_low,
							config->threshold_high);
		if (!runtime->mask)
			return ENOMEM;
	}
	if (config->queue == IVL_QUEUE_SHARED)
		error = ivl_pool_create(config->queue, config->queue_capacity, -1,
					&runtime->shared);
	for (unsigned int i = 0; i < workers && !error; i++)
		error = create_worker(runtime, i);
	/* Attached threads wait for work of their own. */
	if (!error && config->feedback && !runtime->threadless)
		error = ivl_feedback_create(runtime);
	if (!error && config->deadlock_ms && !runtime->threadless)
		error = ivl_deadlock_create(runtime);
	return error ? error : ivl_model_create(runtime, &runtime->model);
}

static void join_threads(ivl_runtime *runtime)
{
	for (unsigned int i = 0; i < runtime->threads; i++)
		pthread_join(runtime->workers[i].thread, NULL);
}

static void end_workers(ivl_runtime *runtime)
{
	atomic_store_explicit(&runtime->stopping, true, memory_order_seq_cst);
	for (unsigned int i = 0; i < runtime->topology->leaf_count; i++) {
		ivl_eventcount_notify(&runtime->place_states[i].sleepers.eventcount,
				      runtime->threads);
		/* ivl_eventcount_notify() was a full fence. */
		ivl_timed_sleep_wake(&runtime->place_states[i].timed_sleep);
	}
	for (unsigned int i = 0; runtime->tied_workers && i < runtime->threads; i++)
		ivl_eventcount_notify(&runtime->tied_workers[i].sleepers.eventcount, 1);
	join_threads(runtime);
}

/* They are about to finish waking a worker. */
static void await_submitters(ivl_runtime *runtime)
{
	while (atomic_load_explicit(&runtime->submitters, memory_order_acquire) != 0)
		sched_yield();
}

/* To one CPU (config.pin), or to its place if there are several. */
static int bind_worker(struct ivl_worker *worker)
{
	const struct ivl_topology *topology = worker->runtime->topology;
	const int cpu = ivl_topology_cpu(topology, worker->number);
	int error;

	if (cpu < 0)
		return 0;
	if (!worker->runtime->config.pin) {
		/* Not requested: ignore errors. */
		if (topology->apart)
			ivl_bind(worker->thread, worker->place->cpus, worker->place->cpu_count);
		return 0;
	}
	error = ivl_bind(worker->thread, &cpu, 1);
	return error ? ivl_error(error, "start: worker %u on CPU %d: %s", worker->number + 1, cpu,
				 strerror(error)) : 0;
}

static int begin(ivl_runtime *runtime)
{
	int error = 0;

	ivl_exceptions_find();
	/* Without membarrier() each spawn looks for sleepers behind a fence (idle.c). */
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0))
		runtime->attention = 1;
	runtime->all_asleep = (unsigned int)runtime->attention + runtime->threads;
	for (unsigned int i = 0; i < runtime->threads && !error; i++) {
		if (runtime->workers[i].feedback)
			ivl_feedback_add(&runtime->workers[i]);
		error = bind_worker(&runtime->workers[i]);
	}
	return error;
}

/* With threads that wait at the gate. */
static int make(ivl_runtime *runtime)
{
	int error = lay_out(runtime);

	if (!error)
		error = create_threads(runtime);
	if (!error && runtime->threads < thread_count(runtime))
		error = lay_out_again(runtime);
	if (!error && create(runtime))
		error = out_of_memory();
	return error ? error : begin(runtime);
}

static int start(const struct ivl_config *given, bool threadless, void (*no_stack)(void),
		 ivl_runtime **result)
{
	struct ivl_config config;
	ivl_runtime *runtime;
	bool watched = false;
	int error = given ? ivl_config_complete(given, &config) : ivl_config_init(&config);

	if (!error)
		error = check(&config);
	if (!error)
		error = ivl_watch_start(&watched);
	if (error)
		return error;
	error = ivl_process_enter();
	if (error)
		return ivl_error(error, "start: no key for thread-specific data");
	runtime = lines(1, sizeof(*runtime));
	if (!runtime) {
		ivl_process_leave();
		return out_of_memory();
	}
	runtime->config = config;
	runtime->watched = watched;
	runtime->threadless = threadless;
	runtime->no_stack = no_stack;
	pthread_mutex_init(&runtime->gate, NULL);
	ivl_depot_init(&runtime->asyncs, IVL_ASYNC_BYTES);
	runtime->process = ivl_process_id();
	pthread_mutex_lock(&runtime->gate);
	error = make(runtime);
	runtime->failed = error;
	ivl_idle_gate_opens(runtime);
	pthread_mutex_unlock(&runtime->gate);
	if (error) {
		join_threads(runtime);
		ivl_process_leave();
		destroy(runtime);
	} else {
		*result = runtime;
	}
	return error;
}

int ivl_start(const struct ivl_config *config, ivl_runtime **runtime)
{
	return start(config, false, NULL, runtime);
}

int ivl_start_threadless(const struct ivl_config *config, void (*no_stack)(void),
		       ivl_runtime **runtime)
{
	return start(config, true, no_stack, runtime);
}

void ivl_stop(ivl_runtime *runtime)
{
	const bool is_parents = ivl_is_parents(runtime);

	if (runtime->of_process)
		return;
	if (!is_parents) {
		ivl_submitted_await(runtime);
		end_workers(runtime);
		await_submitters(runtime);
	}
	ivl_process_leave();
	/* The parent's workers may have been changing the memory at the fork(). */
	if (!is_parents)
		destroy(runtime);
}
