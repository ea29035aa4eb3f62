// SPDX-License-Identifier: LGPL-2.1-or-later
/* What a thread of no runtime may do: hand work over, and use the process's runtime. */
#include "test_child.h"

#include "intervals_algorithms.h"
#include "intervals_sync.h"

#define INDICES 10000

/* Work handed over. */

struct handed {
	_Atomic bool may_end, ran;
	_Atomic unsigned int count;
	const ivl_place *place;
	int error;
};

BODY(end_later, struct handed *handed)
{
	handed->place = ivl_here();
	atomic_store(&handed->ran, true);
	return test_comes_true(atomic_load(&handed->may_end)) ? handed->error : ETIMEDOUT;
}

/* The caller goes on while the body runs, and later learns how it ended. */
TEST(not_waited_for)
{
	test_on_counts(workers) {
		TEST_WORKERS(runtime, workers);
		struct handed handed = { .error = ERANGE };
		ivl_interval *interval;

		assert_int_equal(ivl_submit(runtime, end_later, &handed, ivl_place_at(runtime, 0),
					    &interval), 0);
		assert_true(test_comes_true(atomic_load(&handed.ran)));
		assert_false(ivl_occurred(ivl_end_point(interval)));
		atomic_store(&handed.may_end, true);
		assert_int_equal(ivl_join(ivl_end_point(interval)), ERANGE);
		assert_ptr_equal(handed.place, ivl_place_at(runtime, 0));
		ivl_release(interval);
	}
}

OK_BODY(count_slowly, struct handed *handed)
{
	usleep(100);
	atomic_fetch_add(&handed->count, 1);
}

struct caller {
	ivl_runtime *runtime;
	struct handed *handed;
	_Atomic int errors;
};

THREAD(submit_often, struct caller *caller)
{
	for (int i = 0; i < 50; i++)
		atomic_fetch_or(&caller->errors, ivl_submit(caller->runtime, count_slowly,
							    caller->handed, NULL, NULL));
}

#define CALLERS 4

/* Work that is not asked for is over when the runtime has stopped. */
TEST(stop_waits)
{
	test_on_counts(workers) {
		ivl_runtime *runtime = test_start((const struct ivl_config[]){
			test_config(workers) });
		struct handed handed = { .count = 0 };
		struct caller caller = { runtime, &handed, 0 };
		pthread_t threads[CALLERS];

		for (int i = 0; i < CALLERS; i++)
			pthread_create(&threads[i], NULL, submit_often, &caller);
		for (int i = 0; i < CALLERS; i++)
			pthread_join(threads[i], NULL);
		ivl_stop(runtime);
		assert_int_equal(caller.errors, 0);
		assert_int_equal(handed.count, 50 * CALLERS);
	}
}

struct held {
	ivl_numa_mutex *mutex;
	_Atomic bool locked, ended;
};

THREAD(unlock_later, struct held *held)
{
	ivl_numa_mutex_lock(held->mutex);
	atomic_store(&held->locked, true);
	usleep(20000);
	ivl_numa_mutex_unlock(held->mutex);
}

OK_BODY(lock_and_end, struct held *held)
{
	ivl_numa_mutex_lock(held->mutex);
	ivl_numa_mutex_unlock(held->mutex);
	atomic_store(&held->ended, true);
}

/* Neither is it left behind while it waits, when all workers sleep. */
TEST(stop_waits_for_waiting)
{
	test_on_counts(workers) {
		ivl_runtime *runtime = test_start((const struct ivl_config[]){
			test_config(workers) });
		struct held held = { .ended = false };
		pthread_t thread;

		assert_int_equal(ivl_numa_mutex_init(&held.mutex), 0);
		pthread_create(&thread, NULL, unlock_later, &held);
		assert_true(test_comes_true(atomic_load(&held.locked)));
		assert_int_equal(ivl_submit(runtime, lock_and_end, &held, NULL, NULL), 0);
		ivl_stop(runtime);
		assert_true(held.ended);
		pthread_join(thread, NULL);
		ivl_numa_mutex_destroy(held.mutex);
	}
}

BODY(submit_more, struct caller *caller)
{
	return ivl_submit(caller->runtime, count_slowly, caller->handed, NULL, NULL);
}

/* What a task hands over outlives the interval that it is in. */
TEST(by_a_task)
{
	ivl_runtime *runtime = test_start((const struct ivl_config[]){ test_config(2) });
	struct handed handed = { .count = 0 };
	struct caller caller = { runtime, &handed, 0 };

	test_run(runtime, submit_more, &caller);
	assert_int_equal(ivl_submit(runtime, submit_more, &caller, NULL, NULL), 0);
	ivl_stop(runtime);
	assert_int_equal(handed.count, 2);
}

TEST(parents_runtime)
{
	TEST_WORKERS(runtime, 1);

	assert_int_equal(test_in_child(ivl_submit(runtime, test_nothing, NULL, NULL, NULL) !=
				       ESRCH || !strstr(ivl_last_error(), "parent")), 0);
}

/* The process's runtime. */

THREAD(ask, ivl_runtime **answer)
{
	*answer = ivl_default();
}

TEST(one_for_all)
{
	ivl_runtime *answers[CALLERS];
	pthread_t threads[CALLERS];

	for (int i = 0; i < CALLERS; i++)
		pthread_create(&threads[i], NULL, ask, &answers[i]);
	for (int i = 0; i < CALLERS; i++)
		pthread_join(threads[i], NULL);
	assert_non_null(ivl_default());
	for (int i = 0; i < CALLERS; i++)
		assert_ptr_equal(answers[i], ivl_default());
	/* Another library may still use it. */
	ivl_stop(ivl_default());
	assert_int_equal(ivl_run(ivl_default(), test_nothing, NULL), 0);
}

/* Loops. */

struct loop {
	_Atomic unsigned int done[INDICES];
	_Atomic unsigned int inside, outside;
	_Atomic unsigned int elsewhere;
	pthread_t caller;
};

static void visit(size_t begin, size_t end, void *arg)
{
	struct loop *loop = arg;

	for (size_t i = begin; i < end; i++)
		atomic_fetch_add(&loop->done[i], 1);
	atomic_fetch_add(ivl_here() ? &loop->inside : &loop->outside, 1);
	/* Long enough for a worker to come. */
	if (!pthread_equal(pthread_self(), loop->caller))
		atomic_store(&loop->elsewhere, 1);
	else
		for (int ms = 0; ms < 2000 && !atomic_load(&loop->elsewhere); ms++)
			usleep(1000);
}

static void assert_all_done(const struct loop *loop, unsigned int times)
{
	for (size_t i = 0; i < INDICES; i++)
		assert_int_equal(loop->done[i], times);
}

/* Another thread takes part, with nothing said before. */
TEST(loop)
{
	struct loop *loop = calloc(1, sizeof(*loop));

	loop->caller = pthread_self();
	ivl_parallel_for(0, INDICES, 0, visit, loop);
	assert_all_done(loop, 1);
	assert_int_equal(loop->outside, 0);
	assert_true(loop->inside > 1);
	assert_int_equal(loop->elsewhere, 1);
	assert_null(ivl_here());
	free(loop);
}

static void visit_quickly(size_t begin, size_t end, void *arg)
{
	struct loop *loop = arg;

	for (size_t i = begin; i < end; i++)
		atomic_fetch_add(&loop->done[i], 1);
	atomic_fetch_add(ivl_here() ? &loop->inside : &loop->outside, 1);
}

/* What is one part is called as it is. */
TEST(small_loop)
{
	struct loop *loop = calloc(1, sizeof(*loop));

	ivl_parallel_for(5, 5, 0, visit_quickly, loop);
	assert_int_equal(loop->outside + loop->inside, 0);
	ivl_parallel_for(5, 6, 0, visit_quickly, loop);
	ivl_parallel_for(0, INDICES, INDICES, visit_quickly, loop);
	assert_int_equal(loop->outside, 2);
	assert_int_equal(loop->inside, 0);
	ivl_parallel_for(0, INDICES, INDICES - 1, visit_quickly, loop);
	assert_int_equal(loop->inside, 2);
	free(loop);
}

THREAD(loop_often, struct loop *loop)
{
	for (int i = 0; i < (TEST_SLOW ? 10 : 100); i++)
		ivl_parallel_for(0, INDICES, 100, visit_quickly, loop);
}

TEST(loops_of_many_threads)
{
	struct loop *loop = calloc(1, sizeof(*loop));
	pthread_t threads[CALLERS];

	for (int i = 0; i < CALLERS; i++)
		pthread_create(&threads[i], NULL, loop_often, loop);
	for (int i = 0; i < CALLERS; i++)
		pthread_join(threads[i], NULL);
	assert_all_done(loop, CALLERS * (TEST_SLOW ? 10 : 100));
	assert_int_equal(loop->outside, 0);
	free(loop);
}

/* The error of the loop's interval does not make it run again. */
static void visit_and_fail(size_t begin, size_t end, void *arg)
{
	visit_quickly(begin, end, arg);
	ivl_fail(ERANGE);
}

TEST(loop_fails)
{
	struct loop *loop = calloc(1, sizeof(*loop));

	ivl_parallel_for(0, INDICES, 100, visit_and_fail, loop);
	assert_all_done(loop, 1);
	free(loop);
}

static int fail_at(size_t begin, size_t end, void *arg)
{
	return begin <= 77 && 77 < end ? EDOM : 0;
}

TEST(loop_that_may_fail)
{
	assert_int_equal(ivl_try_for(0, INDICES, 10, fail_at, NULL), EDOM);
	assert_int_equal(ivl_try_for(0, 77, 10, fail_at, NULL), 0);
}

static void sum_part(size_t begin, size_t end, void *sum, void *arg)
{
	for (; begin < end; begin++)
		*(long *)sum += (long)begin;
	if (!ivl_here())
		*(bool *)arg = true;
}

static void add(void *sum, const void *more, void *arg)
{
	*(long *)sum += *(const long *)more;
}

static int compare(const void *one, const void *other, void *arg)
{
	const int a = *(const int *)one, b = *(const int *)other;

	return (a > b) - (a < b);
}

TEST(algorithms)
{
	long sum = 0, *sums = malloc(INDICES * sizeof(*sums));
	int *values = malloc(INDICES * sizeof(*values));
	bool outside = false;

	ivl_parallel_reduce(0, INDICES, 0, &sum, sizeof(sum), sum_part, add, &outside);
	assert_int_equal(sum, (long)INDICES * (INDICES - 1) / 2);
	assert_false(outside);
	for (int i = 0; i < INDICES; i++) {
		sums[i] = 1;
		values[i] = (i * 7919) % INDICES;
	}
	ivl_parallel_scan(sums, sums, INDICES, sizeof(*sums), 0, add, NULL);
	ivl_parallel_sort(values, INDICES, sizeof(*values), compare, NULL);
	for (int i = 0; i < INDICES; i++) {
		assert_int_equal(sums[i], i + 1);
		assert_int_equal(values[i], i);
	}
	free(sums);
	free(values);
}

/* Groups. */

ASYNC(count_in_group, struct handed *handed)
{
	if (!ivl_here() || ivl_current())
		atomic_store(&handed->ran, true);
	atomic_fetch_add(&handed->count, 1);
}

struct large {
	struct handed *handed;
	char more[2000];
};

static void count_large(void *arg)
{
	count_in_group(&((struct large *)arg)->handed);
}

TEST(group)
{
	struct ivl_group group = IVL_GROUP_INIT;
	struct handed handed = { .count = 0 }, *to = &handed;
	struct large large = { &handed, "" };

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 1000; i++)
			assert_int_equal(ivl_group_async(&group, count_in_group, &to, sizeof(to),
							 NULL), 0);
		assert_int_equal(ivl_group_async_by(&group, IVL_WORK_FIRST, count_large, &large,
						    sizeof(large), NULL), 0);
		assert_int_equal(ivl_group_wait(&group), 0);
		assert_int_equal(handed.count, 1001 * (round + 1));
	}
	/* Each was a task, of no interval. */
	assert_false(handed.ran);
	ivl_group_cancel(&group, ECANCELED);
	assert_int_equal(ivl_group_async(&group, count_in_group, &to, sizeof(to), NULL), 0);
	assert_int_equal(ivl_group_wait(&group), ECANCELED);
	assert_int_equal(handed.count, 3003);
	assert_int_equal(ivl_group_async_by(&group, IVL_POLICIES, test_no_task, NULL, 0, NULL),
			 EINVAL);
}

/* Processes. */

static int use_default(const ivl_runtime *parents)
{
	struct loop *loop = calloc(1, sizeof(*loop));
	unsigned int done;

	ivl_parallel_for(0, INDICES, 100, visit_quickly, loop);
	done = loop->inside;
	free(loop);
	return !done || ivl_default() == parents || ivl_submit(ivl_default(), test_nothing, NULL,
							       NULL, NULL);
}

static int use_default_and_fork(const ivl_runtime *parents)
{
	const ivl_runtime *own;

	if (use_default(parents))
		return 1;
	own = ivl_default();
	return test_in_child(use_default(own));
}

/* A forked child has a runtime of its own, and so has that one's child. */
TEST(forked)
{
	const ivl_runtime *ours = ivl_default();

	if (TEST_SANITIZED)
		test_leave_out("the sanitizers start no threads after a fork");
	assert_int_equal(test_in_child(use_default_and_fork(ours)), 0);
	assert_ptr_equal(ivl_default(), ours);
}

static int loop_without(void)
{
	struct loop *loop = calloc(1, sizeof(*loop));

	setenv("INTERVALS_QUEUE", "none", 1);
	ivl_parallel_for(0, INDICES, 100, visit_quickly, loop);
	return ivl_default() || !strstr(ivl_last_error(), "INTERVALS_QUEUE") ||
	       loop->inside || !loop->outside;
}

/* Without it the caller does all, and knows why. */
TEST(no_runtime)
{
	if (TEST_SANITIZED)
		test_leave_out("the sanitizers start no threads after a fork");
	assert_int_equal(test_in_child(loop_without()), 0);
}

TEST_MAIN(NULL, NULL)
