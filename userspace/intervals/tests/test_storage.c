// SPDX-License-Identifier: LGPL-2.1-or-later
/* Task-local values, by keys: kept until the task ends, on any worker. */
#include "test_runtimes.h"

#include "intervals_sync.h"

static struct ivl_key number, stubborn;
static _Atomic int destroyed, stubborn_calls;
static _Atomic long destroyed_sum;

static void destroy_number(void *value)
{
	atomic_fetch_add(&destroyed, 1);
	atomic_fetch_add(&destroyed_sum, *(long *)value);
	free(value);
}

static void come_again(void *value)
{
	atomic_fetch_add(&stubborn_calls, 1);
	ivl_key_set(&stubborn, value);
}

/* False: the task had a value already, or there is no memory. */
static bool keep(long value)
{
	long *own = malloc(sizeof(*own));

	if (!own || ivl_key_get(&number))
		return false;
	*own = value;
	return !ivl_key_set(&number, own) && ivl_key_get(&number) == own;
}

static bool has(long value)
{
	const long *own = ivl_key_get(&number);

	return own && *own == value;
}

/* A task began before the process had keys. The first test: it makes the keys of all. */
static int begun_before(ivl_interval *self, void *arg)
{
	ivl_key_init(&number, destroy_number);
	ivl_key_init(&stubborn, come_again);
	return ivl_key_set(&number, self);
}

TEST(before)
{
	TEST_WORKERS(runtime, 1);

	assert_int_equal(ivl_run(runtime, begun_before, NULL), EBUSY);
}

/*
 * Every kind of task: it has no value at first, keeps its own over waits and over tasks that run
 * meanwhile, and its value is destroyed when it has ended.
 */

struct count {
	_Atomic int failures, tasks;
	_Atomic long sum;
	ivl_numa_barrier *barrier;
};

static void check(struct count *count, bool right)
{
	if (!right)
		atomic_fetch_add(&count->failures, 1);
}

static long begin_task(struct count *count)
{
	const long value = atomic_fetch_add(&count->tasks, 1) + 1;

	atomic_fetch_add(&count->sum, value);
	check(count, keep(value));
	return value;
}

struct branch {
	struct count *count;
	int depth;
};

/* Half of the tasks have no value, so that their children are the first with one. */
TASK(grow, struct branch *branch)
{
	struct branch next = { branch->count, branch->depth - 1 };
	struct ivl_scope scope = IVL_SCOPE_INIT;
	const bool keeps = branch->depth % 2;
	struct ivl_task tasks[3];
	long value = 0;

	check(branch->count, !ivl_key_get(&number));
	if (keeps)
		value = begin_task(branch->count);
	for (int i = 0; branch->depth && i < 3; i++)
		if (ivl_spawn(&scope, &tasks[i], grow, &next))
			abort();
	ivl_sync(&scope);
	check(branch->count, keeps ? has(value) : !ivl_key_get(&number));
	/* One child: the fast path of a sync. */
	if (branch->depth && ivl_spawn(&scope, &tasks[0], grow, &next))
		abort();
	ivl_sync(&scope);
	check(branch->count, keeps ? has(value) : !ivl_key_get(&number));
}

ASYNC(wait_async, struct count *count)
{
	const long value = begin_task(count);

	ivl_numa_barrier_wait(count->barrier);
	check(count, has(value));
}

#define ASYNCS 50

static void begin_asyncs(void *arg)
{
	for (int i = 0; i < ASYNCS; i++)
		if (ivl_async(wait_async, &arg, sizeof(arg), NULL))
			abort();
}

CALL_BODY(inner, begin_task)

OK_BODY(all_kinds, struct count *count)
{
	struct branch branch = { count, 4 };
	long value;

	grow(&branch);
	check(count, !ivl_key_get(&number));
	value = begin_task(count);
	check(count, !ivl_finish(begin_asyncs, count));
	check(count, has(value));
	check(count, !ivl_inline(NULL, inner, count));
	check(count, !ivl_isolated(NULL, 0, inner, count));
	check(count, has(value));
	ivl_release(ivl_launch(NULL, inner, count, NULL));
}

TEST_ON_ALL(all_kinds)
{
	struct count count = { .failures = 0 };

	atomic_store(&destroyed, 0);
	atomic_store(&destroyed_sum, 0);
	assert_int_equal(ivl_numa_barrier_init(&count.barrier, ASYNCS), 0);
	test_run(runtime, all_kinds, &count);
	ivl_numa_barrier_destroy(count.barrier);
	assert_int_equal(count.failures, 0);
	assert_true(count.tasks > ASYNCS + 4);
	assert_int_equal(destroyed, count.tasks);
	assert_int_equal(destroyed_sum, count.sum);
}

/* When a value is destroyed, and what its destructor may do. */

static void keep_one(void *arg)
{
	keep(1);
}

/* Before its sync returns, although the sync calls this child itself. */
static int destroyed_by_sync(ivl_interval *self, void *arg)
{
	struct ivl_scope scope = IVL_SCOPE_INIT;
	struct ivl_task task;

	for (int i = 1; i <= 100; i++) {
		if (ivl_spawn(&scope, &task, keep_one, NULL))
			return ENOMEM;
		ivl_sync(&scope);
		if (atomic_load(&destroyed) != i || ivl_key_get(&number))
			return EPROTO;
	}
	return 0;
}

TEST_ON_ALL(sync)
{
	atomic_store(&destroyed, 0);
	test_run(runtime, destroyed_by_sync, NULL);
}

static int values(ivl_interval *self, void *arg)
{
	static int one, other;
	struct ivl_key plain, unused;

	ivl_key_init(&plain, NULL);
	ivl_key_init(&unused, NULL);
	if (ivl_key_get(&plain) || ivl_key_set(&plain, NULL) || ivl_key_set(&plain, &one) ||
	    ivl_key_set(&plain, &other) || ivl_key_get(&plain) != &other || ivl_key_get(&unused))
		return EPROTO;
	/* A key without a destructor leaves nothing to destroy. */
	return ivl_key_set(&plain, NULL) || ivl_key_get(&plain) ? EPROTO :
	       ivl_key_set(&stubborn, &one);
}

TEST(values)
{
	TEST_WORKERS(runtime, 1);

	atomic_store(&stubborn_calls, 0);
	test_run(runtime, values, NULL);
	assert_int_equal(stubborn_calls, 4);
	assert_int_equal(ivl_key_set(&number, runtime), EINVAL);
	assert_string_equal(ivl_last_error(), "key_set: the caller is not a task");
	assert_null(ivl_key_get(&number));
}

/* A task with a number and one with a value are both distinct from their children. */
static void lock_it(void *arg)
{
	if (!ivl_numa_mutex_lock(arg))
		ivl_numa_mutex_unlock(arg);
	keep(2);
}

static int number_and_value(ivl_interval *self, void *arg)
{
	struct ivl_scope scope = IVL_SCOPE_INIT;
	ivl_numa_mutex *mutex;
	struct ivl_task task;
	int error = ivl_numa_mutex_init(&mutex);

	for (int i = 0; i < 10 && !error; i++) {
		error = ivl_spawn(&scope, &task, lock_it, mutex);
		ivl_sync(&scope);
	}
	error = error ? error : ivl_numa_mutex_lock(mutex);
	if (!error && (ivl_numa_mutex_lock(mutex) != EDEADLK || !keep(3)))
		error = EPROTO;
	error = error ? error : ivl_numa_mutex_unlock(mutex);
	ivl_numa_mutex_destroy(mutex);
	return error;
}

TEST_ON_ALL(mutex)
{
	atomic_store(&destroyed, 0);
	test_run(runtime, number_and_value, NULL);
	assert_int_equal(destroyed, 11);
}

TEST_MAIN(NULL, NULL)
