// SPDX-License-Identifier: LGPL-2.1-or-later
/* Threads, thread-local variables and errno over a wait, in runtimes that are tied or not. */

#include <intervals_sync.h>

#include "test_runtimes.h"

#define TASKS 8
#define ROUNDS (TEST_SLOW ? 100 : 1000)

static _Thread_local int variable;
IVL_THREAD_LOCAL(int, my_variable, variable)

/* As ivl_errno(): not asked for at compile time. */
IVL_NOT_SEEN_THROUGH static int now_errno(void)
{
	__asm__ volatile("" ::: "memory");
	return errno;
}

static _Atomic int moved, wrong;
static ivl_numa_barrier *barrier;

static void make_tasks(void *function)
{
	for (int i = 0; i < TASKS; i++)
		wrong += ivl_async((ivl_function *)function, NULL, 0, NULL) != 0;
}

/* A call returns the thread-local data of the thread in which the task continues. */

static void ask_again(void *arg)
{
	for (int i = 1; i <= ROUNDS; i++) {
		const pid_t before = gettid();
		const int number = (int)before + i;

		*my_variable() = 0;
		ivl_set_errno(0);
		ivl_numa_barrier_wait(barrier);
		moved += gettid() != before;
		*my_variable() = number;
		ivl_set_errno(number);
		wrong += *my_variable() != number || variable != number;
		wrong += ivl_errno() != number || now_errno() != number;
	}
}

TEST(ask_again)
{
	assert_int_equal(ivl_numa_barrier_init(&barrier, TASKS), 0);
	test_on_sizes(config) {
		config.tied = false;
		TEST_RUNTIME(runtime, &config);
		moved = 0;
		wrong = 0;
		for (int i = 0; i < 1000 && !moved && (config.workers > 1 || !i); i++)
			test_finish(runtime, make_tasks, (void *)ask_again);
		assert_int_equal(wrong, 0);
		assert_int_equal(moved > 0, config.workers > 1);
	}
	assert_int_equal(ivl_numa_barrier_destroy(barrier), 0);
}

/* A tied task continues in its thread after any wait. */

static ivl_numa_mutex *mutex;
static ivl_guard *guard;
static _Atomic int counter;
static int locked, held;

static void child(void *arg)
{
	for (int i = atomic_fetch_add(&counter, 1) % 1000; i; i--)
		__asm__ volatile("");
}

CALL_BODY(interval, child)

OK_BODY(hold, void *arg)
{
	held++;
}

static void sync_children(void)
{
	spawn_and_sync(TASKS, child, NULL);
}

static void make_asyncs(void *arg)
{
	for (int i = 0; i < TASKS; i++)
		ivl_async_by(i % 2 ? IVL_WORK_FIRST : IVL_ADAPTIVE, child, NULL, 0, NULL);
}

static void join_one(void)
{
	ivl_interval *made = ivl_launch("made", interval, NULL, NULL);

	ivl_join(ivl_end_point(made));
	ivl_release(made);
}

static void lock(void)
{
	wrong += ivl_numa_mutex_lock(mutex) != 0;
	locked++;
	sync_children();
	wrong += ivl_numa_mutex_unlock(mutex) != 0;
}

static void stay(void *arg)
{
	const pid_t thread = gettid();
	int *const mine = my_variable();

	for (int i = 0; i < ROUNDS / 10; i++) {
		sync_children();
		ivl_finish(make_asyncs, NULL);
		join_one();
		lock();
		ivl_isolated(&guard, 1, hold, NULL);
		ivl_inline("inline", interval, NULL);
		ivl_numa_barrier_wait(barrier);
		moved += gettid() != thread;
		wrong += my_variable() != mine || now_errno() != ivl_errno();
	}
}

static void run_tied(struct ivl_config *config)
{
	config->tied = true;
	TEST_RUNTIME(runtime, config);
	guard = ivl_guard_create(runtime, "guard");
	moved = 0;
	wrong = 0;
	locked = 0;
	held = 0;
	counter = 0;
	test_finish(runtime, make_tasks, (void *)stay);
	assert_int_equal(moved, 0);
	assert_int_equal(wrong, 0);
	assert_int_equal(locked, TASKS * (ROUNDS / 10));
	assert_int_equal(held, TASKS * (ROUNDS / 10));
	assert_int_equal(counter, TASKS * (ROUNDS / 10) * (3 * TASKS + 2));
	ivl_guard_release(guard);
}

TEST(tied)
{
	assert_int_equal(ivl_numa_barrier_init(&barrier, TASKS), 0);
	assert_int_equal(ivl_numa_mutex_init(&mutex), 0);
	test_on_sizes(config)
		for (config.queue = 0; config.queue < IVL_QUEUES; config.queue++)
			run_tied(&config);
	assert_int_equal(ivl_numa_mutex_destroy(mutex), 0);
	assert_int_equal(ivl_numa_barrier_destroy(barrier), 0);
}

/* A task that has yielded continues in its thread. */

static _Atomic int urgent;

OK_BODY(be_urgent, void *arg)
{
	/* Time for thieves. */
	usleep(200);
	urgent = 1;
}

OK_BODY(spawn_until_urgent, void *arg)
{
	const pid_t thread = gettid();
	ivl_interval *made = ivl_create(self, "urgent", be_urgent, NULL, NULL);
	int rounds = 0;

	wrong += ivl_set_priority(made, IVL_PRIORITY_HIGH) != 0;
	ivl_release(made);
	ivl_schedule();
	for (; !urgent && rounds < 100000; rounds++)
		sync_children();
	moved += gettid() != thread;
	/* It yields at a spawn. */
	wrong += rounds == 100000;
}

TEST(gives_way)
{
	test_on_sizes(config) {
		config.tied = true;
		TEST_RUNTIME(runtime, &config);
		moved = 0;
		wrong = 0;
		for (int i = 0; i < 100; i++) {
			urgent = 0;
			test_run(runtime, spawn_until_urgent, NULL);
		}
		assert_int_equal(moved, 0);
		assert_int_equal(wrong, 0);
	}
}

/* Work is for all workers, each of which sleeps on its own. */

static _Atomic int came;

static void come(void *arg)
{
	came = 1;
}

static int await_other(ivl_interval *self, void *arg)
{
	struct ivl_group group = IVL_GROUP_INIT;

	/* The idle workers are asleep by now. */
	usleep(20000);
	came = 0;
	wrong += ivl_group_async(&group, come, NULL, 0, NULL) != 0;
	wrong += !test_comes_true(came);
	return ivl_group_wait(&group);
}

TEST(wakes)
{
	for (unsigned int workers = 2; workers <= 8; workers *= 4) {
		struct ivl_config config = test_config(workers);

		config.tied = true;
		TEST_RUNTIME(runtime, &config);
		wrong = 0;
		test_run(runtime, await_other, NULL);
		assert_int_equal(wrong, 0);
	}
}

TEST(refused)
{
	struct ivl_config config = test_config(2);
	ivl_runtime *runtime;

	config.tied = true;
	config.policy = IVL_WORK_FIRST;
	assert_int_equal(ivl_start(&config, &runtime), EINVAL);
	assert_non_null(strstr(ivl_last_error(), "INTERVALS_TIED"));
	config.policy = IVL_ADAPTIVE;
	config.feedback = true;
	assert_int_equal(ivl_start(&config, &runtime), EINVAL);
	assert_non_null(strstr(ivl_last_error(), "INTERVALS_FEEDBACK"));
}

TEST_MAIN(NULL, NULL)
