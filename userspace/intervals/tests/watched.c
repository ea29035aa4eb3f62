// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Programs whose tasks are known, for the tests of the watching tools (test_watch.py).
 * watched PROGRAM [N]
 */
#include <intervals.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static ivl_runtime *runtime;

static void check(int error)
{
	if (error) {
		fprintf(stderr, "watched: %s\n", ivl_last_error());
		exit(EXIT_FAILURE);
	}
}

static long number;			/* N */

/* fib: a child for each n - 1, a call for each n - 2. */
struct call {
	long n, result;
};

static void fib(void *arg)
{
	struct call *call = arg, one = { call->n - 1, 0 }, two = { call->n - 2, 0 };
	struct ivl_scope scope = IVL_SCOPE_INIT;
	struct ivl_task task;

	if (call->n < 2) {
		call->result = call->n;
		return;
	}
	if (ivl_spawn(&scope, &task, fib, &one))
		fib(&one);
	fib(&two);
	ivl_sync(&scope);
	call->result = one.result + two.result;
}

static int run_fib(ivl_interval *self, void *arg)
{
	struct call call = { number, 0 };

	fib(&call);
	printf("%ld\n", call.result);
	return 0;
}

/* tree: an async that has two, N levels. */
static void tree(void *arg)
{
	const long levels = *(long *)arg - 1;

	for (int i = 0; i < 2 && levels; i++)
		check(ivl_async(tree, &levels, sizeof(levels), NULL));
}

static int run_tree(ivl_interval *self, void *arg)
{
	check(ivl_finish(tree, &number));
	return 0;
}

/* steal: N children, run one after the other by another worker each. */
static void set(void *arg)
{
	atomic_store((atomic_bool *)arg, true);
}

static int run_steal(ivl_interval *self, void *arg)
{
	for (long i = 0; i < number; i++) {
		struct ivl_scope scope = IVL_SCOPE_INIT;
		struct ivl_task task;
		atomic_bool stolen = false;

		check(ivl_spawn(&scope, &task, set, &stolen));
		while (!atomic_load(&stolen))
			sched_yield();
		ivl_sync(&scope);
	}
	return 0;
}

/* sleep: as steal, when a worker has gone to sleep. */
static int run_sleep(ivl_interval *self, void *arg)
{
	struct ivl_statistics sum;

	do {
		sched_yield();
		ivl_statistics_read(runtime, &sum);
	} while (!sum.idles);
	return run_steal(self, arg);
}

/* guards: N intervals that hold one. */
static int hold(ivl_interval *self, void *arg)
{
	return 0;
}

static int run_guards(ivl_interval *self, void *arg)
{
	ivl_guard *guard = ivl_guard_create(runtime, "lock");

	for (long i = 0; i < number; i++) {
		char name[32];
		ivl_interval *one;

		snprintf(name, sizeof(name), "holder %ld", i);
		one = ivl_create(self, name, hold, NULL, NULL);
		check(ivl_add_guard(one, guard));
		ivl_release(one);
	}
	ivl_guard_release(guard);
	return 0;
}

/* wait: a waiter continues after the interval it waits for. */
static int run_wait(ivl_interval *self, void *arg)
{
	ivl_interval *one = ivl_launch("awaited", hold, NULL, NULL);

	check(ivl_join(ivl_end_point(one)));
	ivl_release(one);
	return 0;
}

/* way: a child yields to a run of another thread, then returns to its spawner. */
static atomic_bool waits, came;

static int come(ivl_interval *self, void *arg)
{
	atomic_store(&came, true);
	return 0;
}

static void *come_from_outside(void *arg)
{
	while (!atomic_load(&waits))
		sched_yield();
	check(ivl_run(runtime, come, NULL));
	return NULL;
}

static void give_way(void *arg)
{
	atomic_store(&waits, true);
	while (!atomic_load(&came)) {
		struct call call = { 2, 0 };

		fib(&call);
	}
}

static int run_way(ivl_interval *self, void *arg)
{
	struct ivl_scope scope = IVL_SCOPE_INIT;
	struct ivl_task task;
	pthread_t other;

	check(pthread_create(&other, NULL, come_from_outside, NULL));
	check(ivl_spawn(&scope, &task, give_way, NULL));
	ivl_sync(&scope);
	check(pthread_join(other, NULL));
	return 0;
}

/* fork: as wait, then again in a child process with a runtime of its own. */
static void run_in_child(void)
{
	pid_t child = fork();
	ivl_runtime *own;
	int status;

	if (!child) {
		check(ivl_start(NULL, &own));
		check(ivl_run(own, run_wait, NULL));
		ivl_stop(own);
		exit(EXIT_SUCCESS);
	}
	waitpid(child, &status, 0);
	check(status);
}

/* busy: N bodies spawn for ever, until one of them ends the process. */
static atomic_long busy;

static int run_busy(ivl_interval *self, void *arg)
{
	atomic_fetch_add(&busy, 1);
	while (atomic_load(&busy)) {
		struct call call = { 2, 0 };

		fib(&call);
	}
	return 0;
}

static int start_busy(ivl_interval *self, void *arg)
{
	for (long i = 1; i < number; i++)
		ivl_release(ivl_create(self, NULL, run_busy, NULL, NULL));
	ivl_schedule();
	while (atomic_load(&busy) < number - 1)
		sched_yield();
	exit(EXIT_SUCCESS);
}

static const struct {
	const char *name;
	ivl_body *body;
} programs[] = {
	{ "fib", run_fib }, { "tree", run_tree }, { "steal", run_steal }, { "sleep", run_sleep },
	{ "guards", run_guards }, { "wait", run_wait }, { "fork", run_wait },
	{ "way", run_way },
	/* It ends without ivl_stop(). */
	{ "exit", run_fib }, { "here", run_fib }, { "busy", start_busy },
};

static void run(const char *name, ivl_body *body)
{
	check(ivl_start(NULL, &runtime));
	check(!strcmp(name, "here") ? ivl_run_here(runtime, body, NULL) :
				      ivl_run(runtime, body, NULL));
	if (!strcmp(name, "fork"))
		run_in_child();
	if (strcmp(name, "exit"))
		ivl_stop(runtime);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(programs) / sizeof(*programs); i++) {
		if (strcmp(argv[1], programs[i].name))
			continue;
		number = argc > 2 ? atol(argv[2]) : 1;
		run(argv[1], programs[i].body);
		return EXIT_SUCCESS;
	}
	fprintf(stderr, "watched: there is no such program\n");
	return EXIT_FAILURE;
}
