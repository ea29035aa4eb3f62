// SPDX-License-Identifier: LGPL-2.1-or-later
/* Throttled workers: how many the runtime wants, and that no task waits for ever. */
#include "test_runtimes.h"

#include <time.h>

#include "attach.h"
#include "feedback.h"

/* The clocks that the library sees. */

/* The library's clock is an hour ahead: no nap times out during a test. */
static _Atomic bool later;
/* Threads have no CPU clocks; or their clocks stand at 0. */
static _Atomic bool no_clocks, no_cpus;
/* A read may be slightly older than an earlier read. */
static _Atomic bool unsteady;
static _Atomic unsigned int reads;

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	const int error = __real_clock_gettime(clock, now);

	if (later && clock == CLOCK_MONOTONIC)
		now->tv_sec += 3600;
	if (unsteady && clock == CLOCK_MONOTONIC && reads++ * 2654435761u >> 31)
		now->tv_nsec = now->tv_nsec < 1000000 ? 0 : now->tv_nsec - 1000000;
	/* Of a thread or process, they are negative. */
	if (no_cpus && clock < 0)
		*now = (struct timespec){ 0 };
	return error;
}

int __real_pthread_getcpuclockid(pthread_t thread, clockid_t *clock);
int __wrap_pthread_getcpuclockid(pthread_t thread, clockid_t *clock);

int __wrap_pthread_getcpuclockid(pthread_t thread, clockid_t *clock)
{
	return no_clocks ? ENOENT : __real_pthread_getcpuclockid(thread, clock);
}

static struct ivl_config with_feedback(unsigned int workers)
{
	struct ivl_config config = test_config(workers);

	config.feedback = true;
	config.statistics = true;
	return config;
}

/* The desire. */

#define MS UINT64_C(1000000)

static unsigned int next(unsigned int desire, unsigned int workers, uint64_t length,
			 uint64_t worked, uint64_t ran)
{
	const struct ivl_quantum quantum = { desire, workers, length, worked, ran };

	return ivl_next_desire(&quantum);
}

TEST(next_desire)
{
	/* Efficient and satisfied: twice as much. */
	assert_int_equal(next(1, 8, 10 * MS, 10 * MS, 10 * MS), 2);
	assert_int_equal(next(4, 8, 10 * MS, 40 * MS, 40 * MS), 8);
	/* 80 percent are enough, of the quantum and of the CPUs. */
	assert_int_equal(next(4, 8, 10 * MS, 32 * MS, 32 * MS), 8);
	assert_int_equal(next(4, 8, 10 * MS, 40 * MS, 32 * MS), 8);
	assert_int_equal(next(2, 8, 25 * MS, 40 * MS, 40 * MS), 4);
	/* At most the number of workers. */
	assert_int_equal(next(4, 5, 10 * MS, 40 * MS, 40 * MS), 5);
	assert_int_equal(next(5, 5, 10 * MS, 50 * MS, 50 * MS), 5);
	assert_int_equal(next(1, 1, 10 * MS, 10 * MS, 10 * MS), 1);
	/* Inefficient: half, and at least 1. */
	assert_int_equal(next(4, 8, 10 * MS, 32 * MS - 1, 32 * MS - 1), 2);
	assert_int_equal(next(8, 8, 10 * MS, 0, 0), 4);
	assert_int_equal(next(3, 8, 10 * MS, 0, 0), 1);
	assert_int_equal(next(1, 8, 10 * MS, 0, 0), 1);
	/* Efficient and deprived: the same. */
	assert_int_equal(next(4, 8, 10 * MS, 40 * MS, 32 * MS - 1), 4);
	assert_int_equal(next(1, 8, 10 * MS, 10 * MS, 0), 1);
	/* Inefficient and deprived: it would not have used more. */
	assert_int_equal(next(4, 8, 10 * MS, 20 * MS, 0), 2);
}

/*
 * A job of constant parallelism P uses up to P workers. After the first quanta the desire is more
 * than P / 2, and at most rho / delta = 2.5 times P.
 */
TEST(steady_job)
{
	const unsigned int workers = 64;

	for (unsigned int parallelism = 1; parallelism <= workers; parallelism++) {
		unsigned int desire = 1;

		for (int i = 0; i < 100; i++) {
			const unsigned int used = desire < parallelism ? desire : parallelism;

			assert_true(100 * desire <= 250 * parallelism);
			assert_true(i < 7 || 2 * desire > parallelism);
			desire = next(desire, workers, 10 * MS, used * 10 * MS, used * 10 * MS);
		}
	}
}

/* More work never lowers the desire; a quantum at most halves or doubles it. */
TEST(monotonous)
{
	unsigned int seed = 1;

	for (int i = 0; i < 100000; i++) {
		const unsigned int workers = 1 + (unsigned int)rand_r(&seed) % 1000;
		const unsigned int desire = 1 + (unsigned int)rand_r(&seed) % workers;
		const uint64_t length = 10 * MS + (uint64_t)rand_r(&seed);
		const uint64_t worked = (uint64_t)rand_r(&seed) * desire % (length * desire + 1);
		const uint64_t more = worked + (length * desire - worked) / 2;
		const unsigned int after = next(desire, workers, length, worked, worked);

		assert_in_range(after, 1, workers);
		assert_in_range(after, desire / 2, 2 * desire);
		assert_true(next(desire, workers, length, more, more) >= after);
		assert_true(next(desire, workers, length, more, more / 2) <=
			    next(desire, workers, length, more, more));
	}
}

/* Feedback on and off. */

TEST(off_by_default)
{
	struct ivl_config config;

	unsetenv("INTERVALS_FEEDBACK");
	config = test_config(2);
	assert_false(config.feedback);
	config.statistics = true;
	TEST_RUNTIME(runtime, &config);
	assert_null(runtime->feedback);
	test_run(runtime, test_nothing, NULL);
	assert_int_equal(test_counts(runtime).desire, 0);
	assert_int_equal(test_counts(runtime).quanta, 0);
	setenv("INTERVALS_FEEDBACK", "on", 1);
	assert_true(test_config(2).feedback);
	setenv("INTERVALS_FEEDBACK", "off", 1);
	assert_false(test_config(2).feedback);
	setenv("INTERVALS_FEEDBACK", "1", 1);
	assert_int_equal(ivl_config_init(&config), EINVAL);
	assert_string_equal(ivl_last_error(), "INTERVALS_FEEDBACK=1: not one of off, on");
	unsetenv("INTERVALS_FEEDBACK");
}

/* A runtime without threads of its own has none to throttle. */
TEST(attended)
{
	const struct ivl_config config = with_feedback(2);
	ivl_runtime *runtime;

	assert_int_equal(ivl_start_threadless(&config, NULL, &runtime), 0);
	assert_null(runtime->feedback);
	ivl_stop(runtime);
}

/* Results. */

struct sums {
	_Atomic long asyncs;
	long guarded;
	ivl_guard *guard;
};

ASYNC(add_async, struct sums *sums)
{
	atomic_fetch_add(&sums->asyncs, 1);
}

static void add_asyncs(void *arg)
{
	for (int i = 0; i < 500; i++)
		assert_int_equal(ivl_async(add_async, &arg, sizeof(arg), NULL), 0);
}

OK_BODY(add_guarded, struct sums *sums)
{
	sums->guarded++;
}

OK_BODY(all_shapes, struct sums *sums)
{
	struct fib all = { 15, 0 };

	spawning_fib(&all);
	assert_int_equal(all.result, 610);
	assert_int_equal(ivl_finish(add_asyncs, sums), 0);
	for (int i = 0; i < 100; i++) {
		ivl_interval *guarded = ivl_create(self, NULL, add_guarded, sums, NULL);

		assert_int_equal(ivl_add_guard(guarded, sums->guard), 0);
		ivl_release(guarded);
	}
}

TEST(results)
{
	test_on_sizes(config) {
		config.feedback = true;
		for (config.queue = 0; config.queue < IVL_QUEUES; config.queue++) {
			struct sums sums = { 0 };

			TEST_RUNTIME(runtime, &config);
			sums.guard = ivl_guard_create(runtime, NULL);
			test_run(runtime, all_shapes, &sums);
			assert_int_equal(ivl_run_here(runtime, all_shapes, &sums), 0);
			assert_int_equal(sums.asyncs, 1000);
			assert_int_equal(sums.guarded, 200);
			ivl_guard_release(sums.guard);
		}
	}
}

/* One worker during the first quantum. */

struct crowd {
	ivl_runtime *runtime;
	int tasks, us;
	_Atomic int there, most, ran;
};

ASYNC(be_there, struct crowd *crowd)
{
	const int now = atomic_fetch_add(&crowd->there, 1) + 1;
	int most = crowd->most;

	while (most < now && !atomic_compare_exchange_weak(&crowd->most, &most, now))
		;
	usleep((unsigned int)crowd->us);
	atomic_fetch_sub(&crowd->there, 1);
	atomic_fetch_add(&crowd->ran, 1);
}

TASK(gather, struct crowd *crowd)
{
	for (int i = 0; i < crowd->tasks; i++)
		assert_int_equal(ivl_async(be_there, &crowd, sizeof(crowd), NULL), 0);
}

static bool all_asleep(ivl_runtime *runtime)
{
	return test_comes_true(atomic_load(&runtime->place_states[0].sleepers.asleep) ==
			       ivl_worker_count(runtime));
}

/* Only a call ends a nap: the last worker to sleep makes it, or ivl_stop(). */
TEST(one_is_awake)
{
	struct ivl_config config = with_feedback(8);
	uint64_t naps = 0;

	config.places = IVL_PLACES_ONE;
	config.policy = IVL_HELP_FIRST;
	later = true;
	for (int i = 0; i < 25; i++) {
		ivl_runtime *runtime = test_start(&config);
		struct crowd crowd = { .runtime = runtime, .tasks = 10, .us = 20 };

		for (int run = 0; run < 3; run++) {
			assert_true(all_asleep(runtime));
			test_finish(runtime, gather, &crowd);
		}
		assert_int_equal(crowd.ran, 30);
		/* After a slow run the quantum has ended, and a second worker is wanted. */
		if (!test_counts(runtime).quanta)
			assert_int_equal(crowd.most, 1);
		naps += test_counts(runtime).naps;
		/* While they fall asleep. */
		ivl_stop(runtime);
	}
	later = false;
	assert_true(naps > 0);
}

/* The same without waiting until all workers sleep. */
TEST(foreign_bursts)
{
	const struct ivl_config config = with_feedback(8);

	later = true;
	TEST_RUNTIME(runtime, &config);
	for (int i = 0; i < 1000; i++) {
		struct crowd crowd = { .runtime = runtime, .tasks = i % 7 };

		test_finish(runtime, gather, &crowd);
		assert_int_equal(crowd.ran, crowd.tasks);
		if (i % 10 == 0)
			usleep((unsigned int)i);
	}
	later = false;
}

/* The desire follows the work. */

struct phase {
	ivl_runtime *runtime;
	unsigned int least, most;	/* until the desire is in this range */
	ivl_function *task;
	_Atomic bool over;
	bool came;
};

static bool wanted(const struct phase *phase)
{
	const uint64_t desire = test_counts(phase->runtime).desire;

	return phase->least <= desire && desire <= phase->most;
}

/* Blocks, so that the machine's load does not matter. */
ASYNC(wait_for_end, struct phase *phase)
{
	test_sleep_until(phase->over);
}

/* On a busy machine it hardly gets a CPU. */
ASYNC(spin_to_end, struct phase *phase)
{
	test_yield_until(phase->over);
}

TASK(much_to_do, struct phase *phase)
{
	for (int i = 0; i < 100; i++)
		ivl_async(phase->task, &phase, sizeof(phase), NULL);
	phase->came = test_comes_true(wanted(phase));
	phase->over = true;
}

/* One at a time, each visible to thieves. */
TASK(little_to_do, struct phase *phase)
{
	phase->came = test_comes_true((ivl_async(test_no_task, NULL, 0, NULL), wanted(phase)));
}

/* Did the desire reach the phase's range while this work lasted? */
static bool comes(struct phase *phase, ivl_function *to_do)
{
	test_finish(phase->runtime, to_do, phase);
	return phase->came;
}

TEST(desire_follows)
{
	struct ivl_config config = with_feedback(8);

	config.policy = IVL_HELP_FIRST;
	TEST_RUNTIME(runtime, &config);
	assert_int_equal(test_counts(runtime).desire, 1);
	for (int i = 0; i < 3; i++) {
		struct phase much = { .runtime = runtime, .least = 8, .most = 8,
				      .task = wait_for_end };
		struct phase little = { .runtime = runtime, .least = 1, .most = 2 };

		assert_true(comes(&much, much_to_do));
		assert_true(comes(&little, little_to_do));
	}
	assert_true(test_counts(runtime).quanta >= 5);
	assert_true(test_counts(runtime).naps > 0);
}

/* Each ends before a thief could begin it: a second worker gains nothing. */
TASK(trifles_to_do, struct phase *phase)
{
	struct ivl_task tasks[64];

	for (int i = 0; i < 200000 && !phase->came; i++) {
		struct ivl_scope scope = IVL_SCOPE_INIT;

		for (int task = 0; task < 64; task++)
			if (ivl_spawn(&scope, &tasks[task], test_no_task, NULL))
				test_no_task(NULL);
		ivl_sync(&scope);
		phase->came = wanted(phase);
	}
}

/* A pause before the next steal is no work, although it looks like work from outside. */
TEST(trifles_want_nobody)
{
	struct ivl_config config = with_feedback(2);

	config.policy = IVL_HELP_FIRST;
	TEST_RUNTIME(runtime, &config);
	for (int i = 0; i < 10; i++) {
		struct phase much = { .runtime = runtime, .least = 2, .most = 2,
				      .task = wait_for_end };
		struct phase trifles = { .runtime = runtime, .least = 1, .most = 1 };

		assert_true(comes(&much, much_to_do));
		assert_true(comes(&trifles, trifles_to_do));
	}
}

OK_BODY(ask, struct phase *phase)
{
	phase->came = test_comes_true(wanted(phase));
}

/* Quanta end although one worker has work and the other sleeps: the caller ends them. */
TEST(asked_at_work)
{
	struct ivl_config config = with_feedback(2);
	struct phase phase = { .least = 2, .most = 2 };

	config.places = IVL_PLACES_ONE;
	phase.runtime = test_start(&config);
	assert_true(all_asleep(phase.runtime));
	test_run(phase.runtime, ask, &phase);
	assert_true(phase.came);
	assert_true(test_comes_true(test_counts(phase.runtime).quanta >= 3));
	ivl_statistics_reset(phase.runtime);
	assert_true(test_counts(phase.runtime).quanta <= 1);
	ivl_stop(phase.runtime);
}

/* Without the threads' CPU clocks no worker counts as deprived. */
TEST(no_cpu_clocks)
{
	struct ivl_config config = with_feedback(4);
	struct phase much = { .least = 4, .most = 4, .task = spin_to_end };

	config.policy = IVL_HELP_FIRST;
	no_clocks = true;
	much.runtime = test_start(&config);
	assert_true(comes(&much, much_to_do));
	ivl_stop(much.runtime);
	no_clocks = false;
}

/* Work that began after the reader's time counts as none, not as more than everything. */
TEST(unsteady_clock)
{
	const struct ivl_config config = with_feedback(8);
	int more = 0;

	unsteady = true;
	no_clocks = true;
	TEST_RUNTIME(runtime, &config);
	for (int i = 0; i < 100; i++) {
		usleep(11000);
		test_run(runtime, test_nothing, NULL);
		more += test_counts(runtime).desire > 1;
	}
	/* On a busy machine a run may take a whole quantum. */
	assert_true(more < 10);
	no_clocks = false;
	unsteady = false;
}

/* No task waits for ever. */

struct meeting {
	int tasks;
	void (*task)(void *arg);
	_Atomic int came, late;
};

ASYNC(meet, struct meeting *meeting)
{
	atomic_fetch_add(&meeting->came, 1);
	if (!test_comes_true(meeting->came == meeting->tasks))
		atomic_fetch_add(&meeting->late, 1);
}

/* Spins all the time. */
ASYNC(meet_spinning, struct meeting *meeting)
{
	atomic_fetch_add(&meeting->came, 1);
	test_yield_until(meeting->came >= meeting->tasks);
}

TASK(all_meet, struct meeting *meeting)
{
	for (int i = 0; i < meeting->tasks; i++)
		ivl_async(meeting->task, &meeting, sizeof(meeting), NULL);
}

TEST(tasks_meet)
{
	struct ivl_config config = with_feedback(4);

	config.policy = IVL_HELP_FIRST;
	TEST_RUNTIME(runtime, &config);
	for (int i = 0; i < 5; i++) {
		struct meeting meeting = { .tasks = 4, .task = meet };

		test_finish(runtime, all_meet, &meeting);
		assert_int_equal(meeting.late, 0);
	}
}

/* As on a machine whose CPUs are all taken: one worker is wanted, the rest come when needed. */
TEST(deprived_tasks_meet)
{
	struct ivl_config config = with_feedback(4);
	struct meeting meeting = { .tasks = 4, .task = meet_spinning };

	config.policy = IVL_HELP_FIRST;
	no_cpus = true;
	TEST_RUNTIME(runtime, &config);
	test_finish(runtime, all_meet, &meeting);
	assert_int_equal(meeting.came, 4);
	/* One worker may once have been seen waiting for a page. */
	assert_true(test_counts(runtime).desire < 4);
	assert_true(test_counts(runtime).naps >= IVL_THROTTLED_QUANTA);
	no_cpus = false;
}

/* Places. */

struct visits {
	ivl_runtime *runtime;
	_Atomic int there, strayed;
};

ASYNC(visit, struct visits *visits)
{
	if (ivl_here() != ivl_place_at(visits->runtime, 1))
		atomic_fetch_add(&visits->strayed, 1);
	atomic_fetch_add(&visits->there, 1);
}

/* This place is busy until the other has taken the task. */
TASK(send, struct visits *visits)
{
	for (int i = 0; i < 200; i++) {
		ivl_async(visit, &visits, sizeof(visits), ivl_place_at(visits->runtime, 1));
		test_yield_until(visits->there > i);
	}
}

FINISH_BODY(send_body, send)

OK_BODY(begin_send, struct visits *visits)
{
	ivl_release(ivl_create(self, NULL, send_body, visits, ivl_place_at(visits->runtime, 0)));
}

TEST(each_place_keeps_one)
{
	static const char *const cpus[] = { "0", "1" };

	setenv("HWLOC_SYNTHETIC", "numa:2 pu:4", 1);
	for (unsigned int workers = 2; workers <= 8; workers *= 4) {
		struct ivl_config config = with_feedback(workers);
		struct visits visits = { 0 };

		config.places = IVL_PLACES_GIVEN;
		config.place_cpus = cpus;
		config.place_count = 2;
		config.cross_place = false;
		later = true;
		visits.runtime = test_start(&config);
		test_run(visits.runtime, begin_send, &visits);
		assert_int_equal(visits.there, 200);
		assert_int_equal(visits.strayed, 0);
		/* With one worker for each place none is throttled. */
		if (workers == 2)
			assert_int_equal(test_counts(visits.runtime).naps, 0);
		ivl_stop(visits.runtime);
		later = false;
	}
	unsetenv("HWLOC_SYNTHETIC");
}

TEST_MAIN(NULL, NULL)
