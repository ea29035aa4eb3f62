// SPDX-License-Identifier: LGPL-2.1-or-later
/* Work and span of programs whose tasks take known times. */
#include "test_runtimes.h"

#include <time.h>

#include "attach.h"
#include "test_allocation.h"
#include "watch/view.h"

/* Only spend() advances time: a strand begins and ends in one thread. */
static __thread long spent;

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	if (clock != CLOCK_MONOTONIC_RAW)
		return __real_clock_gettime(clock, now);
	*now = (struct timespec){ 1000 + spent / 1000000000, spent % 1000000000 };
	return 0;
}

/* Not inlined: the thread may have changed. */
__attribute__((noinline)) static void spend(long ns)
{
	spent += ns;
}

/* Of the calling thread. */
static __thread bool no_memory;

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes)
{
	return no_memory ? NULL : __real_malloc(bytes);
}

static ivl_runtime *runtime;

/* What a program adds to the counts before it: one thread runs all. */
static struct ivl_view view_of(ivl_body *body, void *arg)
{
	struct ivl_view before, after;

	ivl_view_read(&before);
	test_run(runtime, body, arg);
	ivl_view_read(&after);
	after.work_ns -= before.work_ns;
	after.tasks -= before.tasks;
	after.span.ns -= before.span.ns;
	after.span.burdened_ns -= before.span.burdened_ns;
	after.span.tasks -= before.span.tasks;
	return after;
}

static void check(ivl_body *body, void *arg, uint64_t work_ns, uint64_t span_ns, uint64_t tasks,
		  uint64_t chain)
{
	const struct ivl_view view = view_of(body, arg);

	assert_int_equal(view.work_ns, work_ns);
	assert_int_equal(view.span.ns, span_ns);
	assert_int_equal(view.tasks, tasks);
	assert_int_equal(view.span.tasks, chain);
	/* In each program the longest path is the same by all measures. */
	assert_int_equal(view.span.burdened_ns, span_ns + chain * IVL_BURDEN_NS);
}

static void must(int error)
{
	if (error)
		fail_msg("%s", ivl_last_error());
}

/* Intervals in sequence. */

OK_BODY(spend_ns, void *arg)
{
	spend((long)(intptr_t)arg);
}

static ivl_interval *make(ivl_interval *parent, long ns)
{
	ivl_interval *made = ivl_create(parent, NULL, spend_ns, (void *)(intptr_t)ns, NULL);

	assert_non_null(made);
	return made;
}

static void edge(ivl_interval *from, ivl_interval *to)
{
	must(ivl_add_edge(ivl_end_point(from), ivl_start_point(to)));
}

OK_BODY(chain, void *arg)
{
	ivl_interval *last = NULL;

	for (long i = 0; i < (long)(intptr_t)arg; i++) {
		ivl_interval *next = make(self, 10);

		if (last) {
			edge(last, next);
			ivl_release(last);
		}
		last = next;
	}
	ivl_release(last);
}

OK_BODY(diamond, void *arg)
{
	ivl_interval *one = make(self, 1), *left = make(self, 10), *right = make(self, 20),
		     *last = make(self, 2);

	edge(one, left);
	edge(one, right);
	edge(left, last);
	edge(right, last);
	ivl_schedule();
	ivl_join(ivl_end_point(one));
	spend(5);
	ivl_release(one);
	ivl_release(left);
	ivl_release(right);
	ivl_release(last);
}

OK_BODY(future, void *arg)
{
	ivl_interval *one = ivl_launch(NULL, spend_ns, (void *)30, NULL);

	spend(10);
	must(ivl_join(ivl_end_point(one)));
	spend(5);
	ivl_release(one);
}

OK_BODY(called, void *arg)
{
	spend(2);
	must(ivl_inline(NULL, spend_ns, (void *)3));
	spend(1);
}

/* Spawn and sync. */

static void tree(void *arg)
{
	long levels = *(long *)arg - 1;
	struct ivl_scope scope = IVL_SCOPE_INIT;
	struct ivl_task tasks[2];

	spend(7);
	if (!levels)
		return;
	must(ivl_spawn(&scope, &tasks[0], tree, &levels));
	must(ivl_spawn(&scope, &tasks[1], tree, &levels));
	ivl_sync(&scope);
}

CALL_BODY(run_tree, tree)

static void fib(void *arg)
{
	const long n = *(long *)arg;
	long one = n - 1, two = n - 2;
	struct ivl_scope scope = IVL_SCOPE_INIT;
	struct ivl_task task;

	spend(1);
	if (n < 2)
		return;
	must(ivl_spawn(&scope, &task, fib, &one));
	fib(&two);
	ivl_sync(&scope);
}

CALL_BODY(run_fib, fib)

static void child(void *arg)
{
	spend(10);
}

OK_BODY(around_a_sync, void *arg)
{
	struct ivl_scope scope = IVL_SCOPE_INIT;
	struct ivl_task task;

	/* The scope is used a second time. */
	for (int i = 0; i < 2; i++) {
		spend(4);
		must(ivl_spawn(&scope, &task, child, NULL));
		spend(3);
		ivl_sync(&scope);
		spend(2);
	}
}

/* Asyncs. */

static void start_asyncs(void *arg)
{
	for (long i = 0; i < *(long *)arg; i++) {
		spend(1);
		must(ivl_async(child, NULL, 0, NULL));
	}
}

OK_BODY(asyncs, void *arg)
{
	must(ivl_finish(start_asyncs, arg));
	spend(6);
}

/*
 * Guards order nothing; the longest hold time is reported on its own. This test is the first: views
 * add up.
 */
OK_BODY(guarded, void *arg)
{
	for (int i = 0; i < 3; i++) {
		ivl_interval *one = make(self, 10);

		must(ivl_add_guard(one, arg));
		ivl_release(one);
	}
}

TEST(guards)
{
	struct ivl_config config = test_config(2);
	struct ivl_view view;
	ivl_guard *guard;

	runtime = test_start(&config);
	guard = ivl_guard_create(runtime, "lock");
	check(guarded, guard, 30, 10, 4, 2);
	ivl_view_read(&view);
	assert_int_equal(view.held_ns, 30);
	assert_string_equal(view.held, "lock");
	ivl_guard_release(guard);
	ivl_stop(runtime);
	/* A stopped runtime is still counted. */
	ivl_view_read(&view);
	assert_true(view.work_ns >= 30);
}

static void test_programs(ivl_runtime *it)
{
	long five = 5, ten = 10;

	runtime = it;
	check(chain, (void *)20, 200, 200, 21, 21);
	check(diamond, NULL, 38, 23, 5, 4);
	check(future, NULL, 45, 35, 2, 2);
	check(run_tree, &five, 7 * 31, 7 * 5, 31, 5);
	/* 177 calls, 88 of them of children. */
	check(run_fib, &ten, 177, 10, 89, 10);
	check(around_a_sync, NULL, 38, 32, 3, 3);
	check(asyncs, &ten, 10 + 100 + 6, 10 + 10 + 6, 11, 2);
	/* A call is on its caller's path, and moves no task. */
	{
		const struct ivl_view view = view_of(called, NULL);

		assert_int_equal(view.work_ns, 6);
		assert_int_equal(view.span.ns, 6);
		assert_int_equal(view.span.tasks, 2);
		assert_int_equal(view.span.burdened_ns, 6 + IVL_BURDEN_NS);
	}
}

TEST(all)
{
	test_on_all(test_programs);
}

/* A child that cannot be recorded; its spawner can. */
OK_BODY(unseen, void *arg)
{
	struct ivl_scope scope = IVL_SCOPE_INIT;
	struct ivl_task task;
	int error;

	spend(4);
	no_memory = true;
	error = ivl_spawn(&scope, &task, child, NULL);
	no_memory = false;
	must(error);
	spend(3);
	ivl_sync(&scope);
	spend(2);
}

/* The queue has room for the first of these children. */
OK_BODY(unspawned, void *arg)
{
	struct ivl_scope scope = IVL_SCOPE_INIT, empty = IVL_SCOPE_INIT;
	struct ivl_task tasks[64], task;
	size_t count = 0;

	test_allocations_left = 0;
	while (count < 64 && !ivl_spawn(&scope, &tasks[count], child, NULL))
		count++;
	assert_in_range(count, 1, 63);
	assert_int_equal(ivl_spawn(&empty, &task, child, NULL), ENOMEM);
	test_allocations_left = -1;
	spend(4);
	ivl_sync(&empty);
	spend(5);
	ivl_sync(&scope);
	*(size_t *)arg = count;
}

TEST(no_memory)
{
	struct ivl_config config = test_config(1);
	struct ivl_view view;
	size_t count;

	for (int policy = 0; policy < IVL_POLICIES; policy++) {
		config.policy = policy;
		runtime = test_start(&config);
		check(unseen, NULL, 9, 9, 1, 1);
		ivl_stop(runtime);
	}
	config.policy = IVL_HELP_FIRST;
	config.queue_capacity = 2;
	runtime = test_start(&config);
	view = view_of(unspawned, &count);
	assert_int_equal(view.work_ns, 9 + 10 * count);
	assert_int_equal(view.tasks, 1 + count);
	ivl_stop(runtime);
}

/* Runs that one thread starts follow each other, on any worker. */
TEST(runs)
{
	struct ivl_config config = test_config(1);
	struct ivl_view before, after;

	runtime = test_start(&config);
	ivl_view_read(&before);
	must(ivl_run_here(runtime, spend_ns, (void *)10));
	must(ivl_run(runtime, spend_ns, (void *)20));
	must(ivl_run_here(runtime, spend_ns, (void *)30));
	ivl_view_read(&after);
	assert_int_equal(after.span.ns - before.span.ns, 60);
	assert_int_equal(after.span.tasks - before.span.tasks, 3);
	ivl_stop(runtime);
}

/* Two parts of a body each schedule an interval. */
static void schedule_beside(void *arg)
{
	spend(100);
	ivl_release(make(arg, 1));
	ivl_schedule();
}

OK_BODY(parts, void *arg)
{
	struct ivl_scope scope = IVL_SCOPE_INIT;
	struct ivl_task task;

	must(ivl_spawn(&scope, &task, schedule_beside, self));
	spend(2);
	ivl_release(make(self, 200));
	ivl_schedule();
	ivl_sync(&scope);
}

/* One part makes an interval, another schedules it. */
static void make_beside(void *arg)
{
	spend(100);
	ivl_release(make(arg, 50));
}

OK_BODY(made_beside, void *arg)
{
	struct ivl_scope scope = IVL_SCOPE_INIT;
	struct ivl_task task;

	must(ivl_spawn(&scope, &task, make_beside, self));
	spend(2);
	ivl_schedule();
	ivl_sync(&scope);
}

TEST(parts)
{
	struct ivl_config config = test_config(1);

	config.policy = IVL_WORK_FIRST;
	runtime = test_start(&config);
	assert_int_equal(view_of(parts, NULL).span.ns, 202);
	assert_int_equal(view_of(made_beside, NULL).span.ns, 150);
	ivl_stop(runtime);
}

/* A scope that is left to its children, as a layer above does (attach.h). */
static atomic_bool is_left;

static void tell_left(struct ivl_work *work)
{
	is_left = true;
}

OK_BODY(leave, void *arg)
{
	static const struct ivl_work_kind kind = { .run = tell_left, .resumes = true };
	static struct ivl_waiter waiter = { .work.kind = &kind };
	static struct ivl_scope scope;
	static struct ivl_task tasks[2];

	waiter.runtime = runtime;
	scope = (struct ivl_scope)IVL_SCOPE_INIT;
	for (int i = 0; i < 2; i++)
		must(ivl_spawn(&scope, &tasks[i], child, NULL));
	spend(16);
	if (ivl_scope_detach(&scope, &waiter))
		is_left = true;
}

static void leave_scope(ivl_runtime *it)
{
	runtime = it;
	is_left = false;
	test_run(runtime, leave, NULL);
	assert_true(test_comes_true(is_left));
}

TEST(leaving)
{
	test_on_all(leave_scope);
}

TEST(probes)
{
	setenv("INTERVALS_PROBES", "perhaps", 1);
	assert_int_equal(ivl_start(NULL, &runtime), EINVAL);
	assert_string_equal(ivl_last_error(), "INTERVALS_PROBES=perhaps: not one of off, on");
	setenv("INTERVALS_PROBES", "off", 1);
	assert_int_equal(ivl_start(NULL, &runtime), 0);
	ivl_stop(runtime);
	unsetenv("INTERVALS_PROBES");
}

TEST(nowhere)
{
	struct ivl_config config = test_config(1);

	ivl_view_forget();
	setenv("INTERVALS_VIEW", "/no/such/file", 1);
	assert_int_equal(ivl_start(&config, &runtime), ENOENT);
	assert_string_equal(ivl_last_error(), "INTERVALS_VIEW=/no/such/file: No such file or "
			    "directory");
}

int main(void)
{
	setenv("INTERVALS_VIEW", "/dev/null", 1);
	return test_run_all(NULL, NULL);
}
