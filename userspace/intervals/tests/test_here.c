// SPDX-License-Identifier: LGPL-2.1-or-later
/* ivl_run_here(): the thread that calls takes part until its interval is done. */
#include "test_child.h"

#include "intervals_sync.h"

/* All kinds of work. */

struct call {
	ivl_runtime *runtime;
	pthread_t caller;
	_Atomic int asyncs;
	bool elsewhere;
};

static void count_async(void *arg)
{
	atomic_fetch_add(&(*(struct call **)arg)->asyncs, 1);
}

static void begin_asyncs(void *arg)
{
	for (int i = 0; i < 200; i++)
		if (ivl_async(count_async, &arg, sizeof(arg), NULL))
			count_async(&arg);
}

OK_BODY(count_interval, void *arg)
{
	count_async(&arg);
}

/* The intervals end after the body. */
static void begin_intervals(ivl_interval *self, struct call *call)
{
	ivl_interval *before = NULL;

	for (int i = 0; i < 50; i++) {
		ivl_interval *made = ivl_create(self, NULL, count_interval, call, NULL);

		if (before) {
			ivl_add_edge(ivl_end_point(before), ivl_start_point(made));
			ivl_release(before);
		}
		before = made;
	}
	ivl_release(before);
}

BODY(all_kinds, struct call *call)
{
	struct fib whole = { 12, 0 };

	call->elsewhere = !pthread_equal(pthread_self(), call->caller);
	if (!ivl_here())
		return EPROTO;
	spawning_fib(&whole);
	if (whole.result != 144 || ivl_finish(begin_asyncs, call) || call->asyncs != 200)
		return EPROTO;
	begin_intervals(self, call);
	return 0;
}

TEST_ON_ALL(all_kinds)
{
	for (int i = 0; i < 3; i++) {
		struct call call = { .runtime = runtime, .caller = pthread_self() };

		assert_int_equal(ivl_run_here(runtime, all_kinds, &call), 0);
		assert_int_equal(call.asyncs, 250);
		assert_false(call.elsewhere);
		assert_null(ivl_here());
	}
}

static int fail_here(ivl_interval *self, void *arg)
{
	return ERANGE;
}

TEST(error)
{
	TEST_WORKERS(runtime, 1);

	assert_int_equal(ivl_run_here(runtime, fail_here, NULL), ERANGE);
}

/* All workers are held up. */

struct jam {
	ivl_runtime *runtime;
	_Atomic unsigned int held;
	_Atomic bool all_held, free;
	int error;
};

ASYNC(hold_up, struct jam *jam)
{
	if (atomic_fetch_add(&jam->held, 1) + 1 == ivl_worker_count(jam->runtime))
		atomic_store(&jam->all_held, true);
	test_comes_true(atomic_load(&jam->free));
}

TASK(hold_all_up, struct jam *jam)
{
	for (unsigned int i = 0; i < ivl_worker_count(jam->runtime); i++)
		ivl_async(hold_up, &jam, sizeof(jam), NULL);
}

THREAD(jam_main, struct jam *jam)
{
	jam->error = test_try_finish(jam->runtime, hold_all_up, jam);
}

static void with_jams(void (*test)(ivl_runtime *runtime))
{
	test_on_sizes(config) {
		struct jam jam = { .error = 0 };
		pthread_t thread;

		print_message("# %u workers\n", config.workers);
		/* Asyncs, not their spawner, so that each is for another worker. */
		config.policy = IVL_HELP_FIRST;
		config.places = IVL_PLACES_ONE;
		jam.runtime = test_start(&config);
		pthread_create(&thread, NULL, jam_main, &jam);
		assert_true(test_comes_true(atomic_load(&jam.all_held)));
		test(jam.runtime);
		atomic_store(&jam.free, true);
		pthread_join(thread, NULL);
		assert_int_equal(jam.error, 0);
		ivl_stop(jam.runtime);
	}
}

/* No worker is free to do it. */
static void try_alone(ivl_runtime *runtime)
{
	struct call call = { .runtime = runtime, .caller = pthread_self() };

	assert_int_equal(ivl_run_here(runtime, all_kinds, &call), 0);
	assert_int_equal(call.asyncs, 250);
}

TEST(alone)
{
	with_jams(try_alone);
}

struct lock {
	ivl_numa_mutex *mutex;
	_Atomic bool locked;
};

THREAD(unlock_later, struct lock *lock)
{
	ivl_numa_mutex_lock(lock->mutex);
	atomic_store(&lock->locked, true);
	usleep(20000);
	ivl_numa_mutex_unlock(lock->mutex);
}

OK_BODY(lock_body, struct lock *lock)
{
	ivl_numa_mutex_lock(lock->mutex);
	ivl_numa_mutex_unlock(lock->mutex);
}

/* The body waits for a foreign thread. */
static void wait_by(test_enter *enter, ivl_runtime *runtime, bool stops)
{
	struct lock lock = { .locked = false };
	pthread_t thread;

	assert_int_equal(ivl_numa_mutex_init(&lock.mutex), 0);
	pthread_create(&thread, NULL, unlock_later, &lock);
	assert_true(test_comes_true(atomic_load(&lock.locked)));
	assert_int_equal(enter(runtime, lock_body, &lock), 0);
	if (stops)
		ivl_stop(runtime);
	pthread_join(thread, NULL);
	ivl_numa_mutex_destroy(lock.mutex);
}

static void wait_here(ivl_runtime *runtime)
{
	wait_by(ivl_run_here, runtime, false);
}

/* The caller sleeps without work, and is woken. */
TEST(woken)
{
	with_jams(wait_here);
}

/* Work of other threads. */

struct heap {
	ivl_runtime *runtime;
	_Atomic bool stop, begun, left;
	bool late;
	int error;
};

/* Each makes the next: some queue always has a task. */
ASYNC(go_on, struct heap *heap)
{
	atomic_store(&heap->begun, true);
	if (!atomic_load(&heap->stop))
		ivl_async(go_on, &heap, sizeof(heap), NULL);
}

static void go_on_often(void *arg)
{
	for (int i = 0; i < 8; i++)
		ivl_async(go_on, &arg, sizeof(arg), NULL);
}

THREAD(heap_main, struct heap *heap)
{
	heap->error = test_try_finish(heap->runtime, go_on_often, heap);
}

THREAD(stop_late, struct heap *heap)
{
	heap->late = !test_comes_true(atomic_load(&heap->left));
	atomic_store(&heap->stop, true);
}

/* It returns although its queue is never empty; workers run the tasks it leaves there. */
static void try_leaving(struct ivl_config config)
{
	struct heap heap = { .late = false };
	pthread_t thread, clock;

	print_message("# %u workers\n", config.workers);
	config.policy = IVL_HELP_FIRST;
	config.places = IVL_PLACES_ONE;
	heap.runtime = test_start(&config);
	pthread_create(&thread, NULL, heap_main, &heap);
	assert_true(test_comes_true(atomic_load(&heap.begun)));
	pthread_create(&clock, NULL, stop_late, &heap);
	for (int i = 0; i < 5; i++)
		wait_here(heap.runtime);
	atomic_store(&heap.left, true);
	pthread_join(clock, NULL);
	pthread_join(thread, NULL);
	assert_false(heap.late);
	assert_int_equal(heap.error, 0);
	ivl_stop(heap.runtime);
}

TEST(leaving)
{
	test_on_sizes(config)
		try_leaving(config);
}

static void set_flag(void *arg)
{
	atomic_store((_Atomic bool *)arg, true);
}

/* The child is in the caller's queue, and the caller does not come back to it. */
static int be_robbed(ivl_interval *self, void *arg)
{
	struct ivl_scope scope = IVL_SCOPE_INIT;
	_Atomic bool ran = false;
	struct ivl_task task;
	bool stolen;

	if (ivl_spawn(&scope, &task, set_flag, (void *)&ran))
		return ENOMEM;
	stolen = test_comes_true(atomic_load(&ran));
	ivl_sync(&scope);
	return stolen ? 0 : ETIMEDOUT;
}

TEST(stolen_from)
{
	test_on_queues(config, 1) {
		TEST_RUNTIME(runtime, &config);

		assert_int_equal(ivl_run_here(runtime, be_robbed, NULL), 0);
	}
}

/* Many callers, and tasks that call. */

#define CALLERS 6

CALL_BODY(fib_body, spawning_fib)

struct caller {
	ivl_runtime *runtime;
	int failures;
};

THREAD(call_often, struct caller *caller)
{
	static const long results[] = { 21, 34, 55, 89, 144 };

	for (int i = 0; i < (TEST_SLOW ? 20 : 200); i++) {
		struct fib whole = { 8 + i % 5, 0 };

		if (ivl_run_here(caller->runtime, fib_body, &whole) ||
		    whole.result != results[i % 5])
			caller->failures++;
	}
}

static void try_callers(unsigned int workers, bool cross_place)
{
	struct ivl_config config = test_config(workers);
	struct caller callers[CALLERS];
	pthread_t threads[CALLERS];

	config.cross_place = cross_place;
	config.statistics = true;
	config.places = IVL_PLACES_LLC;
	TEST_RUNTIME(runtime, &config);
	for (int i = 0; i < CALLERS; i++) {
		callers[i] = (struct caller){ runtime, 0 };
		pthread_create(&threads[i], NULL, call_often, &callers[i]);
	}
	for (int i = 0; i < CALLERS; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(callers[i].failures, 0);
	}
}

TEST(callers)
{
	test_on_counts(workers) {
		try_callers(workers, true);
		try_callers(workers, false);
	}
}

static int call_inside(ivl_interval *self, void *arg)
{
	ivl_runtime **both = arg;

	for (int i = 0; i < 2; i++) {
		struct fib whole = { 10, 0 };
		int error = ivl_run_here(both[i], fib_body, &whole);

		if (error || whole.result != 55)
			return EPROTO;
	}
	return 0;
}

/* Callers return while the threads that woke them may still be inside the call. */
TEST(tasks_call)
{
	struct ivl_config config = test_config(1);
	ivl_runtime *both[2];

	for (int turn = 0; turn < 20; turn++) {
		for (int i = 0; i < 2; i++)
			both[i] = test_start(&config);
		assert_int_equal(ivl_run_here(both[0], call_inside, both), 0);
		assert_int_equal(ivl_run(both[0], call_inside, both), 0);
		for (int i = 0; i < 2; i++)
			ivl_stop(both[i]);
	}
}

/* Also from a thread outside any runtime. */
TEST(outsider_wakes)
{
	struct ivl_config config = test_config(1);

	for (int turn = 0; turn < 20; turn++)
		wait_by(turn % 2 ? ivl_run : ivl_run_here, test_start(&config), true);
}

/* What the caller did is counted: two spawns, and the interval itself is in no queue. */
TEST(counted)
{
	struct ivl_config config = test_config(1);

	config.statistics = true;
	config.policy = IVL_HELP_FIRST;
	TEST_RUNTIME(runtime, &config);
	assert_int_equal(ivl_run_here(runtime, fib_body, &(struct fib){ 3, 0 }), 0);
	assert_in_range(test_counts(runtime).puts, 2, 10);
	ivl_statistics_reset(runtime);
	assert_int_equal(test_counts(runtime).puts, 0);
}

TEST(child_process)
{
	TEST_WORKERS(runtime, 1);

	assert_int_equal(test_in_child(ivl_run_here(runtime, fail_here, NULL) != ESRCH), 0);
}

TEST_MAIN(NULL, NULL)
