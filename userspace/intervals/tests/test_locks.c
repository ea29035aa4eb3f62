// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The debug library's reports of threads' locks that a task holds over a wait. Each case is a
 * process of its own.
 */

#include <intervals_sync.h>

#include "test_child.h"

static pthread_mutex_t lock;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void init(int kind)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, kind);
	pthread_mutex_init(&lock, &attributes);
}

__attribute__((noinline)) static void sync_two(void)
{
	struct ivl_scope scope = IVL_SCOPE_INIT;
	struct ivl_task tasks[2];

	for (int i = 0; i < 2; i++)
		ivl_spawn(&scope, &tasks[i], test_no_task, NULL);
	ivl_sync(&scope);
	__asm__ volatile("");
}

/* Held over a sync, a finish and a join, with or without something to wait for. */

OK_BODY(lock_and_sync, void *arg)
{
	pthread_mutex_lock(&lock);
	sync_two();
	pthread_mutex_unlock(&lock);
}

static void over_sync(ivl_runtime *runtime)
{
	init(PTHREAD_MUTEX_RECURSIVE);
	ivl_run(runtime, lock_and_sync, NULL);
}

OK_BODY(read_and_join, void *arg)
{
	ivl_interval *made = ivl_create(self, "made", test_nothing, NULL, NULL);
	ivl_point *const end = ivl_end_point(made);

	pthread_rwlock_rdlock(&rwlock);
	ivl_schedule();
	ivl_join(end);
	pthread_rwlock_unlock(&rwlock);
	ivl_release(made);
}

static void over_join(ivl_runtime *runtime)
{
	/* With one worker it has not ended by then. */
	for (int i = 0; i < 1000; i++)
		ivl_run(runtime, read_and_join, NULL);
}

TEST(waits)
{
	test_on_counts(workers) {
		static const char *const sync[] = {
			("intervals: task lock_and_sync waits while holding a lock of its "
			 "thread:\nintervals:   recursive mutex 0x"),
			"intervals:     lock_and_sync (",
			"intervals:   waits in\nintervals:     sync_two (",
		};
		static const char *const join[] = {
			("intervals: task read_and_join waits while holding a lock of its "
			 "thread:\nintervals:   rwlock, for reading, 0x"),
			"intervals:   waits in\nintervals:     read_and_join (",
		};
		const struct ivl_config config = test_config(workers);
		struct test_process process;
		char said[TEST_SAID_BYTES];

		test_ends_saying(test_begin(&config, over_sync(runtime)), sync, 3);
		process = test_begin(&config, over_join(runtime));
		test_listen(&process, said, 100);
		test_end(&process, true);
		test_says(said, join, 2);
	}
}

/* A task continues in another thread. */

static ivl_numa_barrier *barrier;
static _Atomic int moved, refused;

static void lock_and_meet(void *arg)
{
	const pid_t thread = gettid();

	/* One of them; its owner need not be the task that continues on another worker. */
	if (pthread_mutex_trylock(&lock))
		return (void)ivl_numa_barrier_wait(barrier);
	ivl_numa_barrier_wait(barrier);
	moved += gettid() != thread;
	if (pthread_mutex_unlock(&lock)) {
		refused++;
		init(PTHREAD_MUTEX_ERRORCHECK);
	}
}

OK_BODY(meet, void *arg)
{
	for (int i = 0; i < 20000 && !moved; i++) {
		struct ivl_group group = IVL_GROUP_INIT;

		for (int j = 0; j < 4; j++)
			ivl_group_async_by(&group, IVL_HELP_FIRST, lock_and_meet, NULL, 0, NULL);
		ivl_group_wait(&group);
	}
}

static void over_barrier(ivl_runtime *runtime)
{
	init(PTHREAD_MUTEX_ERRORCHECK);
	ivl_numa_barrier_init(&barrier, 4);
	ivl_run(runtime, meet, NULL);
	_exit(moved ? refused ? 0 : 2 : 3);
}

TEST(goes_on_elsewhere)
{
	for (unsigned int workers = 2; workers <= 8; workers *= 4) {
		static const char *const words[] = {
			"intervals: task lock_and_meet waits while holding a lock",
			"intervals: task lock_and_meet continues on another thread while holding a "
			"lock of the first:\nintervals:   error-checking mutex 0x",
		};
		const struct ivl_config config = test_config(workers);

		test_ends_saying(test_begin(&config, over_barrier(runtime)), words, 2);
	}
}

/* Another task gets the lock. */

static _Atomic int let_in;

static void lock_too(void *arg)
{
	if (pthread_mutex_trylock(&lock))
		return;
	let_in = 1;
	pthread_mutex_unlock(&lock);
}

static void lock_and_wait(void *arg)
{
	pthread_mutex_lock(&lock);
	ivl_numa_barrier_wait(barrier);
	pthread_mutex_unlock(&lock);
}

static void lock_and_come(void *arg)
{
	lock_too(arg);
	ivl_numa_barrier_wait(barrier);
}

static int let_in_one(ivl_interval *self, void *arg)
{
	struct ivl_group group = IVL_GROUP_INIT;

	/* The last task put is taken first. */
	ivl_group_async_by(&group, IVL_HELP_FIRST, lock_and_come, NULL, 0, NULL);
	ivl_group_async_by(&group, IVL_HELP_FIRST, lock_and_wait, NULL, 0, NULL);
	return ivl_group_wait(&group);
}

static void recursively(ivl_runtime *runtime)
{
	init(PTHREAD_MUTEX_RECURSIVE);
	ivl_numa_barrier_init(&barrier, 2);
	ivl_run(runtime, let_in_one, NULL);
	_exit(!let_in);
}

TEST(lets_in)
{
	static const char *const words[] = {
		"intervals: task lock_and_come got a lock that the waiting task "
		"lock_and_wait holds",
	};
	const struct ivl_config config = test_config(1);

#ifdef __SANITIZE_THREAD__
	test_leave_out("ThreadSanitizer has something to say of it, too, and may end the process");
#endif
	test_ends_saying(test_begin(&config, recursively(runtime)), words, 1);
}

/* No report of locks released before the wait, or of locks that belong to tasks. */

static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
static ivl_numa_mutex *mutex;
static _Atomic int turns;

static void wait_in_kernel(void *arg)
{
	pthread_mutex_lock(&plain);
	turns++;
	pthread_cond_broadcast(&cond);
	while (turns < 2)
		pthread_cond_wait(&cond, &plain);
	pthread_mutex_unlock(&plain);
}

static int lock_well(ivl_interval *self, void *arg)
{
	const unsigned int workers = (unsigned int)(uintptr_t)arg;

	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&lock);
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
		pthread_mutex_unlock(&lock);
		pthread_rwlock_wrlock(&rwlock);
		pthread_rwlock_unlock(&rwlock);
		sync_two();
		ivl_numa_mutex_lock(mutex);
		sync_two();
		ivl_numa_mutex_unlock(mutex);
	}
	if (workers > 1) {
		struct ivl_group group = IVL_GROUP_INIT;

		turns = 0;
		for (int i = 0; i < 2; i++)
			ivl_group_async_by(&group, IVL_HELP_FIRST, wait_in_kernel, NULL, 0, NULL);
		return ivl_group_wait(&group);
	}
	return 0;
}

static void well(ivl_runtime *runtime)
{
	init(PTHREAD_MUTEX_RECURSIVE);
	ivl_numa_mutex_init(&mutex);
	/* The caller is no task. */
	pthread_mutex_lock(&plain);
	pthread_mutex_unlock(&plain);
	ivl_run(runtime, lock_well, (void *)(uintptr_t)ivl_worker_count(runtime));
}

TEST(says_nothing)
{
	test_on_counts(workers) {
		const struct ivl_config config = test_config(workers);

		test_ends_silently(test_begin(&config, well(runtime)));
	}
}

TEST_MAIN(NULL, NULL)
