// SPDX-License-Identifier: LGPL-2.1-or-later
/* Where tasks run, and how long they wait. On a synthetic machine of two nodes. */
#include "test_runtimes.h"

#include <time.h>

#include "runtime.h"

static struct ivl_config two_places(unsigned int workers)
{
	struct ivl_config config = test_config(workers);

	config.places = IVL_PLACES_NUMA;
	config.cross_place = false;
	config.statistics = true;
	return config;
}

/* A task that waits for work at another place continues at its own. */

#define TIMES 100

struct visit {
	ivl_runtime *runtime;
	const ivl_place *other;
	_Atomic int strayed;
};

OK_BODY(look_interval, struct visit *visit)
{
	if (ivl_here() != visit->other)
		atomic_fetch_add(&visit->strayed, 1);
	usleep(100);
}

ASYNC(look_async, struct visit *visit)
{
	look_interval(NULL, visit);
}

TASK(send_async, struct visit *visit)
{
	if (ivl_async(look_async, &visit, sizeof(visit), visit->other))
		atomic_fetch_add(&visit->strayed, 1);
}

OK_BODY(stay, struct visit *visit)
{
	const ivl_place *home = ivl_here();

	for (int i = 0; i < TIMES; i++) {
		ivl_interval *sent;

		ivl_finish(send_async, visit);
		if (ivl_here() != home)
			atomic_fetch_add(&visit->strayed, 1);
		sent = ivl_create(self, NULL, look_interval, visit, visit->other);
		ivl_schedule();
		ivl_join(ivl_end_point(sent));
		ivl_release(sent);
		if (ivl_here() != home)
			atomic_fetch_add(&visit->strayed, 1);
	}
}

OK_BODY(begin_stay, struct visit *visit)
{
	visit->other = ivl_place_at(visit->runtime, 1);
	ivl_release(ivl_create(self, NULL, stay, visit, ivl_place_at(visit->runtime, 0)));
}

TEST(goes_on_at_home)
{
	for (unsigned int workers = 2; workers <= 8; workers *= 4) {
		struct ivl_config config = two_places(workers);
		struct visit visit = { 0 };

		visit.runtime = test_start(&config);
		assert_int_equal(ivl_place_count(visit.runtime), 2);
		test_run(visit.runtime, begin_stay, &visit);
		assert_int_equal(atomic_load(&visit.strayed), 0);
		ivl_stop(visit.runtime);
	}
}

/* Without config.cross_place tasks stay at the place that spawned them. */

struct crowd {
	const ivl_place *home;
	_Atomic int strayed, ran;
};

ASYNC(work_at_home, struct crowd *crowd)
{
	if (ivl_here() != crowd->home)
		atomic_fetch_add(&crowd->strayed, 1);
	atomic_fetch_add(&crowd->ran, 1);
	/* Long enough for thieves to come. */
	usleep(100);
}

TASK(spawn_at_home, struct crowd *crowd)
{
	crowd->home = ivl_here();
	for (int i = 0; i < 1000; i++)
		ivl_async(work_at_home, &crowd, sizeof(crowd), NULL);
}

TEST(cross_place_off)
{
	for (int half = 0; half < 2; half++) {
		struct ivl_config config = two_places(8);
		struct crowd crowd = { 0 };

		config.policy = IVL_HELP_FIRST;
		config.steal_half = half;
		TEST_RUNTIME(runtime, &config);
		test_finish(runtime, spawn_at_home, &crowd);
		assert_int_equal(atomic_load(&crowd.strayed), 0);
		assert_int_equal(atomic_load(&crowd.ran), 1000);
		assert_int_equal(test_counts(runtime).steals_remote, 0);
		assert_true(test_counts(runtime).steals > test_counts(runtime).steal_failures);
	}
}

/* A thief takes half of what the victim has, with config.steal_half. */

#define HEAP 400

struct heap {
	_Atomic int elsewhere;
	ivl_runtime *runtime;
	uint64_t successes;
};

static void take_part(void *arg)
{
	atomic_fetch_add(&(*(struct heap **)arg)->elsewhere, 1);
}

TASK(heap_up, struct heap *heap)
{
	struct ivl_statistics statistics;

	for (int i = 0; i < HEAP; i++)
		ivl_async(take_part, &heap, sizeof(heap), NULL);
	/* The other worker has all the time it needs for half of what there was. */
	test_comes_true(atomic_load(&heap->elsewhere) >= HEAP / 2);
	ivl_statistics_read(heap->runtime, &statistics);
	heap->successes = statistics.steals - statistics.steal_failures;
}

TEST(steal_half)
{
	struct ivl_config config = test_config(2);
	struct heap heap = { 0 };

	config.places = IVL_PLACES_ONE;
	config.policy = IVL_HELP_FIRST;
	config.statistics = true;
	config.steal_half = true;
	heap.runtime = test_start(&config);
	test_finish(heap.runtime, heap_up, &heap);
	/* Single steals would be as many as the tasks that moved. */
	assert_true(heap.successes < HEAP / 4);
	ivl_stop(heap.runtime);
}

/* Work from outside begins while all workers have work of their own. */

struct busy {
	ivl_runtime *runtime;
	_Atomic int started;
	_Atomic bool came;
	int error;
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Spawns until the other thread's run has come. */
TASK(spawn_on, struct busy *busy)
{
	const double end = now() + 10;

	atomic_fetch_add(&busy->started, 1);
	while (!atomic_load(&busy->came) && now() < end) {
		struct ivl_scope scope = IVL_SCOPE_INIT;
		struct ivl_task task;

		if (!ivl_spawn(&scope, &task, test_no_task, NULL))
			ivl_sync(&scope);
	}
}

/* Each makes the next, so the queue is never empty. */
ASYNC(async_on, struct busy *busy)
{
	if (!atomic_load(&busy->came) && !busy->error)
		ivl_async(async_on, &busy, sizeof(busy), NULL);
}

TASK(begin_asyncs, struct busy *busy)
{
	for (unsigned int i = 0; i < ivl_worker_count(busy->runtime); i++) {
		atomic_fetch_add(&busy->started, 1);
		for (int j = 0; j < 2; j++)
			ivl_async(async_on, &busy, sizeof(busy), NULL);
	}
}

OK_BODY(busy_with_spawns, struct busy *busy)
{
	struct ivl_scope scope = IVL_SCOPE_INIT;
	struct ivl_task tasks[8];

	for (unsigned int i = 1; i < ivl_worker_count(busy->runtime); i++)
		ivl_spawn(&scope, &tasks[i], spawn_on, busy);
	spawn_on(busy);
	ivl_sync(&scope);
}

FINISH_BODY(busy_with_asyncs, begin_asyncs)

#define LEAVES 20000

TASK(leaf, struct busy *busy)
{
	if (!atomic_load(&busy->came) && !busy->error)
		usleep(1000);
}

/* Children without children: the only worker is in ivl_sync() until all have run. */
OK_BODY(busy_with_sync, struct busy *busy)
{
	static struct ivl_task tasks[LEAVES];
	struct ivl_scope scope = IVL_SCOPE_INIT;

	for (int i = 0; i < LEAVES; i++)
		if (ivl_spawn(&scope, &tasks[i], leaf, busy))
			leaf(busy);
	atomic_store(&busy->started, (int)ivl_worker_count(busy->runtime));
	ivl_sync(&scope);
}

OK_BODY(come, void *arg)
{
	atomic_store(&((struct busy *)arg)->came, true);
}

THREAD(outside, struct busy *busy)
{
	test_sleep_until(atomic_load(&busy->started) >= (int)ivl_worker_count(busy->runtime));
	ivl_run(busy->runtime, come, busy);
}

THREAD(give_up, struct busy *busy)
{
	for (int i = 0; i < 1000 && !atomic_load(&busy->came); i++)
		usleep(10000);
	if (!atomic_load(&busy->came))
		busy->error = ETIMEDOUT;
}

static void try_busy(unsigned int workers, enum ivl_policy policy, ivl_body *body)
{
	struct ivl_config config = test_config(workers);
	struct busy busy = { 0 };
	pthread_t thread, clock;

	print_message("# %u workers, %s\n", workers, ivl_policy_name(policy));
	config.policy = policy;
	config.places = IVL_PLACES_ONE;
	busy.runtime = test_start(&config);
	pthread_create(&thread, NULL, outside, &busy);
	pthread_create(&clock, NULL, give_up, &busy);
	test_run(busy.runtime, body, &busy);
	/* It ended because the other thread's run began, not by the time limit. */
	pthread_join(clock, NULL);
	assert_int_equal(busy.error, 0);
	pthread_join(thread, NULL);
	ivl_stop(busy.runtime);
}

TEST(mail)
{
	test_on_counts(workers) {
		for (int policy = 0; policy < IVL_POLICIES; policy++) {
			try_busy(workers, policy, busy_with_spawns);
			/* Work-first, a child has run when it is spawned; asyncs would nest. */
			if (policy == IVL_WORK_FIRST)
				continue;
			try_busy(workers, policy, busy_with_sync);
			try_busy(workers, policy, busy_with_asyncs);
		}
	}
}

/*
 * Mail is read in time, too, while an interval of high priority waits at another place, which the
 * worker may not take.
 */
struct beside {
	ivl_runtime *runtime;
	_Atomic bool ready, mailed, over;
	long spawns;
};

static void count_mail(void *arg)
{
	atomic_store(&(*(struct beside **)arg)->mailed, true);
}

TASK(stay_busy, struct beside *beside)
{
	const ivl_place *there = ivl_place_at(beside->runtime, 1);
	ivl_interval *high;

	ivl_async(count_mail, &beside, sizeof(beside), ivl_place_at(beside->runtime, 0));
	high = ivl_create(ivl_current(), "high", test_nothing, NULL, there);
	if (high && !ivl_set_priority(high, IVL_PRIORITY_HIGH))
		ivl_release(high);
	ivl_schedule();
	atomic_store(&beside->ready, true);
	test_sleep_until(atomic_load(&beside->over));
}

FINISH_BODY(busy_place, stay_busy)

OK_BODY(spawning_place, struct beside *beside)
{
	test_sleep_until(atomic_load(&beside->ready));
	while (beside->spawns < 10000000 && !atomic_load(&beside->mailed)) {
		struct ivl_scope scope = IVL_SCOPE_INIT;
		struct ivl_task task;

		if (!ivl_spawn(&scope, &task, test_no_task, NULL))
			ivl_sync(&scope);
		beside->spawns++;
	}
	atomic_store(&beside->over, true);
}

BODY(beside_each_other, struct beside *beside)
{
	const ivl_place *here = ivl_place_at(beside->runtime, 0);
	const ivl_place *there = ivl_place_at(beside->runtime, 1);
	ivl_interval *busy = ivl_launch("busy", busy_place, beside, there);
	ivl_interval *other = ivl_launch("other", spawning_place, beside, here);
	int error;

	if (!busy || !other)
		return ENOMEM;
	error = ivl_join(ivl_end_point(busy));
	if (!error)
		error = ivl_join(ivl_end_point(other));
	ivl_release(busy);
	ivl_release(other);
	return error;
}

TEST(mail_beside_high_priority)
{
	struct ivl_config config = test_config(2);
	struct beside beside = { 0 };

	config.cross_place = false;
	beside.runtime = test_start(&config);
	assert_int_equal(ivl_place_count(beside.runtime), 2);
	test_run(beside.runtime, beside_each_other, &beside);
	ivl_stop(beside.runtime);
	print_message("# after %ld spawns\n", beside.spawns);
	assert_in_range(beside.spawns, 0, 1000);
}

static unsigned int passed(ivl_runtime *runtime)
{
	unsigned int workers;

	pthread_mutex_lock(&runtime->gate);
	workers = runtime->passed;
	pthread_mutex_unlock(&runtime->gate);
	return workers;
}

static uint64_t search_us(uint64_t given)
{
	const unsigned int measured = given == IVL_SEARCH_MEASURED ? 4 : 0;
	struct ivl_config config = test_config(4);
	ivl_runtime *runtime;
	uint64_t used;

	assert_int_equal(config.search_us, IVL_SEARCH_MEASURED);
	config.search_us = given;
	runtime = test_start(&config);
	assert_true(test_comes_true(passed(runtime) == measured));
	used = atomic_load(&runtime->search_us);
	ivl_stop(runtime);
	return used;
}

/* Measured when the workers start, unless it is given. */
TEST(search_time)
{
	assert_int_equal(search_us(0), 0);
	assert_int_equal(search_us(1234), 1234);
	assert_in_range(search_us(IVL_SEARCH_MEASURED), IVL_SEARCH_LEAST_US, IVL_SEARCH_MOST_US);
}

int main(void)
{
	setenv("HWLOC_SYNTHETIC", "numa:2 pu:4", 1);
	return test_run_all(NULL, NULL);
}
