// SPDX-License-Identifier: LGPL-2.1-or-later
/* Spawn, sync and parallel_for: every child runs once, before its sync returns. */
#include "test_runtimes.h"

#define DEPTH (TEST_SLOW ? 12 : 16)

TEST_ON_ALL(fib)
{
	struct fib f = { DEPTH, 0 };

	test_call(runtime, spawning_fib, &f);
	assert_int_equal(f.result, TEST_SLOW ? 144 : 987);
}

/* Flat: many children of one scope, which is used again. */
#define CHILDREN 300

struct flat {
	int runs[CHILDREN];
	bool ok;
};

static void once(void *arg)
{
	++*(int *)arg;
}

OK_BODY(flat_body, struct flat *flat)
{
	struct ivl_scope scope = IVL_SCOPE_INIT;
	struct ivl_task tasks[CHILDREN];

	flat->ok = true;
	for (int round = 1; round <= 5; round++) {
		for (int i = 0; i < CHILDREN; i++)
			if (ivl_spawn(&scope, &tasks[i], once, &flat->runs[i]))
				once(&flat->runs[i]);
		ivl_sync(&scope);
		for (int i = 0; i < CHILDREN; i++)
			flat->ok &= flat->runs[i] == round;
	}
}

TEST_ON_ALL(flat)
{
	struct flat flat = { 0 };

	test_run(runtime, flat_body, &flat);
	assert_true(flat.ok);
}

/* A chain of children, each spawned by the last: deeper than a stack of calls may be. */
static void chain(void *arg)
{
	struct ivl_scope scope = IVL_SCOPE_INIT;
	struct ivl_task task;
	int *left = arg;

	if (!(*left)--)
		return;
	if (ivl_spawn(&scope, &task, chain, arg))
		*left = -2;
	ivl_sync(&scope);
}

TEST(deep)
{
	test_on_policies(config, 2) {
		int left = 2000;

		config.stack_bytes = 64 << 10;
		TEST_RUNTIME(runtime, &config);
		test_call(runtime, chain, &left);
		assert_int_equal(left, -1);
	}
}

TEST(without_fibers)
{
	test_on_policies(config, 1) {
		int left = 5;

		/* The body has the only stack: its sync runs the children. */
		config.fibers_per_worker = 1;
		TEST_RUNTIME(runtime, &config);
		test_call(runtime, chain, &left);
		assert_int_equal(left, -1);
	}
}

/* The second child begins only when the first is under way elsewhere: both wait for each other. */
struct meeting {
	_Atomic int arrived;
	bool met;
};

TASK(meet, struct meeting *meeting)
{
	atomic_fetch_add(&meeting->arrived, 1);
	test_comes_true(atomic_load(&meeting->arrived) == 2);
}

BODY(meeting_body, struct meeting *meeting)
{
	struct ivl_scope scope = IVL_SCOPE_INIT;
	struct ivl_task task;

	if (ivl_spawn(&scope, &task, meet, meeting))
		return ENOMEM;
	meet(meeting);
	ivl_sync(&scope);
	meeting->met = atomic_load(&meeting->arrived) == 2;
	return 0;
}

TEST(runs_at_the_same_time)
{
	test_on_policies(config, 2) {
		struct meeting meeting = { 0 };

		config.victims = config.policy % IVL_VICTIM_POLICIES;
		/* One task is enough to be stolen. */
		config.threshold_low = 0;
		config.threshold_high = 1;
		TEST_RUNTIME(runtime, &config);
		test_run(runtime, meeting_body, &meeting);
		assert_true(meeting.met);
	}
}

TEST(foreign_thread)
{
	struct ivl_scope scope = IVL_SCOPE_INIT;
	struct ivl_task task;
	int runs = 0;

	assert_int_equal(ivl_spawn(&scope, &task, once, &runs), 0);
	ivl_sync(&scope);
	assert_int_equal(runs, 1);
}

#define LENGTH (TEST_SLOW ? 1009 : 10007)

struct sum {
	unsigned char seen[LENGTH];
	size_t begin, end, grain, longest;
};

static void mark(size_t begin, size_t end, void *arg)
{
	struct sum *sum = arg;

	for (size_t i = begin; i < end; i++)
		sum->seen[i]++;
	/* A grain that the runtime chooses is unknown here. */
	if (sum->grain && end - begin > sum->grain)
		sum->longest = end - begin;
}

OK_BODY(range_body, struct sum *sum)
{
	ivl_parallel_for(sum->begin, sum->end, sum->grain, mark, sum);
}

TEST_ON_ALL(parallel_for)
{
	static const size_t grains[] = { 1, 7, 64, LENGTH, SIZE_MAX };

	for (size_t g = 0; g < sizeof(grains) / sizeof(*grains); g++) {
		struct sum sum = { .begin = 3, .end = LENGTH, .grain = grains[g] };

		test_run(runtime, range_body, &sum);
		assert_int_equal(sum.longest, 0);
		for (size_t i = 0; i < LENGTH; i++)
			assert_int_equal(sum.seen[i], i >= 3);
	}
}

TEST(range_edges)
{
	TEST_WORKERS(runtime, 2);
	struct sum sum = { .begin = 5, .end = 5, .grain = SIZE_MAX };

	test_run(runtime, range_body, &sum);
	sum.begin = 9;
	test_run(runtime, range_body, &sum);
	assert_int_equal(sum.seen[5] + sum.seen[9], 0);
	/* The grain chosen by the runtime covers the range too. */
	sum = (struct sum){ .begin = 0, .end = 11 };
	test_run(runtime, range_body, &sum);
	for (size_t i = 0; i < LENGTH; i++)
		assert_int_equal(sum.seen[i], i < 11);
}

TEST_MAIN(NULL, NULL)
