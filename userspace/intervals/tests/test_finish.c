// SPDX-License-Identifier: LGPL-2.1-or-later
/* Finish and async: a finish ends after all its asyncs and their asyncs. */
#include "test_runtimes.h"

#include "intervals_sync.h"

#define LEVELS (TEST_SLOW ? 7 : 10)

struct tree {
	_Atomic long *leaves;
	int level;
	/* Copied with the argument, suitably aligned. */
	long double one;
	_Atomic bool *failed;
};

static void grow(void *arg)
{
	struct tree *tree = arg, child = *tree;

	if (!tree->level) {
		atomic_fetch_add(tree->leaves, (long)tree->one);
		return;
	}
	child.level--;
	for (int i = 0; i < 2; i++)
		if (ivl_async(grow, &child, sizeof(child), NULL))
			atomic_store(tree->failed, true);
	/* Each async has a copy. */
	memset(&child, 0, sizeof(child));
}

TEST_ON_ALL(tree)
{
	_Atomic bool failed = false;
	_Atomic long leaves = 0;
	struct tree tree = { &leaves, LEVELS, 1, &failed };

	test_finish(runtime, grow, &tree);
	assert_int_equal(leaves, 1L << LEVELS);
	assert_false(atomic_load(&failed));
}

/* A finish inside an async waits for its own asyncs only. */
struct nested {
	_Atomic int inner, outer;
	_Atomic bool early;
};

ASYNC(count_inner, struct nested *nested)
{
	atomic_fetch_add(&nested->inner, 1);
}

static void many_inner(void *arg)
{
	for (int i = 0; i < 10; i++)
		ivl_async(count_inner, &arg, sizeof(arg), NULL);
}

ASYNC(with_inner, struct nested *nested)
{
	struct nested mine = { 0 };

	ivl_finish(many_inner, &mine);
	if (atomic_load(&mine.inner) != 10)
		atomic_store(&nested->early, true);
	atomic_fetch_add(&nested->outer, 1);
}

static void many_outer(void *arg)
{
	for (int i = 0; i < 20; i++)
		ivl_async(with_inner, &arg, sizeof(arg), NULL);
}

TEST_ON_ALL(nested)
{
	struct nested nested = { 0 };

	test_finish(runtime, many_outer, &nested);
	assert_int_equal(nested.outer, 20);
	assert_false(nested.early);
}

OK_BODY(outside_body, void *arg)
{
	*(int *)arg = ivl_async(test_no_task, NULL, 0, NULL);
	ivl_finish(test_no_task, NULL);
}

TEST(async_outside_of_a_finish)
{
	TEST_WORKERS(runtime, 1);
	int error = 0;

	test_run(runtime, outside_body, &error);
	assert_int_equal(error, EINVAL);
	assert_int_equal(ivl_async(test_no_task, NULL, 0, NULL), EINVAL);
	assert_string_equal(ivl_last_error(), "async: not inside a finish");
}

/* SLAW, Figure 1: each vertex in turn is labelled by one neighbour, and calls the rest. */
struct graph {
	int side;
	_Atomic int *parent;
	_Atomic int error;
};

struct visit {
	struct graph *graph;
	int vertex;
};

TASK(depth_first, struct visit *visit)
{
	struct graph *graph = visit->graph;
	const int side = graph->side, x = visit->vertex % side, y = visit->vertex / side;
	const int neighbours[] = {
		(x + 1) % side + y * side, (x + side - 1) % side + y * side,
		x + (y + 1) % side * side, x + (y + side - 1) % side * side,
	};

	for (int i = 0; i < 4; i++) {
		struct visit next = { graph, neighbours[i] };
		int none = -1, error;

		if (!atomic_compare_exchange_strong(&graph->parent[next.vertex], &none,
						    visit->vertex))
			continue;
		error = ivl_async(depth_first, &next, sizeof(next), NULL);
		if (error)
			atomic_store(&graph->error, error);
	}
}

TASK(search, struct graph *graph)
{
	atomic_store(&graph->parent[0], 0);
	depth_first(&(struct visit){ graph, 0 });
}

TEST(bounded_stack)
{
	const int side = TEST_SLOW ? 60 : 300, vertices = side * side;
	struct graph graph = { .side = side };

	graph.parent = malloc(sizeof(*graph.parent) * (size_t)vertices);
	assert_non_null(graph.parent);
	/* Work-first recurses as deep as the graph is large, and continues without free stacks. */
	test_on_policies(config, 2) {
		config.statistics = true;
		config.fibers_per_worker = 1000;
		config.stack_bytes = 64 << 10;
		for (int i = 0; i < vertices; i++)
			atomic_init(&graph.parent[i], -1);
		TEST_RUNTIME(runtime, &config);
		test_finish(runtime, search, &graph);
		assert_int_equal(graph.error, 0);
		for (int i = 0; i < vertices; i++)
			assert_true(graph.parent[i] >= 0);
		assert_true(test_counts(runtime).fibers <= 2000);
	}
	free(graph.parent);
}

/*
 * One stack for each worker, each used by another worker before. Then one worker has work and
 * needs the stacks of all idle ones.
 */
struct few_stacks {
	_Atomic unsigned int begun, reached;
	unsigned int workers;
	bool all;
};

static void begin_and_wait(struct few_stacks *test)
{
	atomic_fetch_add(&test->begun, 1);
	test_sleep_until(atomic_load(&test->begun) >= test->workers);
}

CALL_BODY(use_stack, begin_and_wait)

ASYNC(go_down, struct few_stacks *test)
{
	if (atomic_fetch_add(&test->reached, 1) + 2 < test->workers)
		ivl_async(go_down, &test, sizeof(test), NULL);
}

TASK(go_all_down, struct few_stacks *test)
{
	atomic_store(&test->reached, 0);
	ivl_async(go_down, &test, sizeof(test), NULL);
}

static bool reaches_all(struct few_stacks *test)
{
	/* Remembered, since the stacks may have moved when the caller asks again. */
	if (!test->all)
		ivl_finish(go_all_down, test);
	test->all = atomic_load(&test->reached) == test->workers - 1;
	return test->all;
}

BODY(few_stacks_body, struct few_stacks *test)
{
	for (unsigned int i = 1; i < test->workers; i++)
		ivl_release(ivl_create(self, "user", use_stack, test, NULL));
	ivl_schedule();
	begin_and_wait(test);
	return test_comes_true(reaches_all(test)) ? 0 : EPROTO;
}

TEST(sleeping_workers_keep_no_stack)
{
	test_on_sizes(config) {
		struct few_stacks test = { .workers = config.workers };

		if (config.workers == 1)
			continue;
		config.fibers_per_worker = 1;
		config.policy = IVL_WORK_FIRST;
		test_run_on(&config, few_stacks_body, &test);
	}
}

/*
 * No stack is free when the finish begins, so it waits on its worker's first stack; the spawner of
 * its last async has continued on another worker.
 */
#define FIBERS 8

struct no_stack {
	ivl_numa_barrier *all_taken;
	_Atomic int waiting;
	_Atomic bool begun, gone_on, last;
	bool last_before;
};

OK_BODY(take_stack, struct no_stack *test)
{
	atomic_fetch_add(&test->waiting, 1);
	ivl_numa_barrier_wait(test->all_taken);
	atomic_fetch_sub(&test->waiting, 1);
}

ASYNC(end_last, struct no_stack *test)
{
	test_sleep_until(atomic_load(&test->gone_on));
	usleep(10000);
	atomic_store(&test->last, true);
}

/* After the takers have returned their stacks: before that an async stays in the queue. */
static void async_with_stack(void (*function)(void *), struct no_stack *test)
{
	while (atomic_load(&test->waiting))
		usleep(1000);
	usleep(1000);
	assert_int_equal(ivl_async(function, &test, sizeof(test), NULL), 0);
}

ASYNC(go_on, struct no_stack *test)
{
	atomic_store(&test->begun, true);
	async_with_stack(end_last, test);
	atomic_store(&test->gone_on, true);
}

TASK(begin_without_stack, struct no_stack *test)
{
	async_with_stack(go_on, test);
	/* go_on() runs on another worker, which has a stack. */
	test_sleep_until(atomic_load(&test->begun));
}

OK_BODY(finish_without_stack, struct no_stack *test)
{
	ivl_numa_barrier_wait(test->all_taken);
	ivl_finish(begin_without_stack, test);
	test->last_before = atomic_load(&test->last);
}

OK_BODY(no_stack_body, struct no_stack *test)
{
	ivl_interval *finish;

	for (int i = 0; i < FIBERS - 1; i++)
		ivl_release(ivl_create(self, "taker", take_stack, test, NULL));
	ivl_schedule();
	test_sleep_until(atomic_load(&test->waiting) >= FIBERS - 1);
	finish = ivl_create(self, "finish", finish_without_stack, test, NULL);
	ivl_schedule();
	ivl_join(ivl_end_point(finish));
	ivl_release(finish);
}

static void wait_without_stack(unsigned int workers)
{
	struct ivl_config config = test_config(workers);
	struct no_stack test = { 0 };

	config.fibers_per_worker = FIBERS / workers;
	config.policy = IVL_WORK_FIRST;
	assert_int_equal(ivl_numa_barrier_init(&test.all_taken, FIBERS), 0);
	test_run_on(&config, no_stack_body, &test);
	assert_true(test.last_before);
	assert_int_equal(ivl_numa_barrier_destroy(test.all_taken), 0);
}

/* Not with one worker: its tasks poll without giving it up. */
TEST(waits_without_stack)
{
	wait_without_stack(2);
	wait_without_stack(8);
}

/* Groups. */
struct grouped {
	struct ivl_group group, other;
	_Atomic int ran, begun;
	_Atomic bool go, looked;
	ivl_interval *beside;
	ivl_function *late;
	int error, pause;
};

static void count_grouped(void *arg)
{
	atomic_fetch_add(&(*(struct grouped **)arg)->ran, 1);
}

ASYNC(group_inside, struct grouped *test)
{
	/* An async of an async of the group, by both ways. */
	assert_ptr_equal(ivl_group_current(), &test->group);
	assert_int_equal(ivl_async(count_grouped, &test, sizeof(test), NULL), 0);
	assert_int_equal(ivl_group_async(&test->group, count_grouped, &test, sizeof(test), NULL),
			 0);
}

BODY(group_body, struct grouped *test)
{
	for (int round = 1; round <= 20; round++) {
		/* The groups are waited for in turn, and used again. */
		for (int i = 0; i < 10; i++) {
			ivl_group_async(&test->group, group_inside, &test, sizeof(test), NULL);
			ivl_group_async(&test->other, count_grouped, &test, sizeof(test), NULL);
		}
		assert_null(ivl_group_current());
		if (ivl_group_wait(&test->group) || ivl_group_wait(&test->other) ||
		    atomic_load(&test->ran) != 30 * round)
			return EPROTO;
	}
	return 0;
}

TEST_ON_ALL(group)
{
	struct grouped test = { .group = IVL_GROUP_INIT, .other = IVL_GROUP_INIT };

	test_run(runtime, group_body, &test);
}

/* Runs when its current interval has ended. */
ASYNC(makes_children, struct grouped *test)
{
	test_yield_until(atomic_load(&test->go));
	if (ivl_create(ivl_current(), "late", NULL, NULL, NULL) ||
	    ivl_launch("late", NULL, NULL, NULL) || ivl_inline("late", NULL, NULL) != EINVAL ||
	    ivl_isolated(NULL, 0, NULL, NULL) != EINVAL ||
	    !strstr(ivl_last_error(), "its parent has ended"))
		atomic_store(&test->ran, -1);
	atomic_fetch_add(&test->ran, 1);
}

/* The end of its current interval precedes nothing any more. */
ASYNC(looks_from_the_end, struct grouped *test)
{
	ivl_interval *other = test->beside;

	test_yield_until(atomic_load(&test->go));
	if (ivl_happens_before(ivl_end_point(ivl_current()), ivl_end_point(other)) ||
	    ivl_create(other, "late", NULL, NULL, NULL) ||
	    ivl_add_edge(ivl_end_point(ivl_current()), ivl_end_point(other)) != EALREADY)
		atomic_store(&test->ran, -1);
	atomic_store(&test->looked, true);
	if (ivl_join(ivl_end_point(other)))
		atomic_store(&test->ran, -1);
	atomic_fetch_add(&test->ran, 1);
}

OK_BODY(wait_until_looked, struct grouped *test)
{
	test_yield_until(atomic_load(&test->looked));
}

BODY(begin_late, struct grouped *test)
{
	return ivl_group_async_by(&test->group, IVL_HELP_FIRST, test->late, &test, sizeof(test),
				  NULL);
}

BODY(late_body, struct grouped *test)
{
	if (ivl_inline("ended", begin_late, test))
		return EPROTO;
	atomic_store(&test->go, true);
	return ivl_group_wait(&test->group);
}

BODY(looking_body, struct grouped *test)
{
	int error;

	test->beside = ivl_launch("beside", wait_until_looked, test, NULL);
	error = late_body(self, test);
	ivl_release(test->beside);
	return error;
}

TEST(nothing_comes_after_what_has_ended)
{
	TEST_WORKERS(runtime, 3);

	for (int i = 0; i < 20; i++) {
		struct grouped test = { .group = IVL_GROUP_INIT, .late = looks_from_the_end };

		test_run(runtime, looking_body, &test);
		assert_int_equal(atomic_load(&test.ran), 1);
	}
}

OK_BODY(counts_itself, struct grouped *test)
{
	atomic_fetch_add(&test->ran, 1);
}

/* The body of its current interval returns before, during, or after that. */
ASYNC(makes_one_more, struct grouped *test)
{
	ivl_interval *made;

	test_yield_until(atomic_load(&test->go));
	for (int i = 0; i < test->pause; i++)
		atomic_load(&test->go);
	made = ivl_create(ivl_current(), "one more", counts_itself, test, NULL);
	if (made)
		ivl_release(made);
	else
		atomic_store(&test->ran, -1);
	atomic_store(&test->looked, true);
}

BODY(begin_making, struct grouped *test)
{
	ivl_interval *beside = ivl_launch("beside", wait_until_looked, test, NULL);
	int error;

	if (!beside)
		return ENOMEM;
	ivl_release(beside);
	error = begin_late(self, test);
	atomic_store(&test->go, true);
	for (int i = 0; i < 100; i++)
		atomic_load(&test->go);
	return error;
}

BODY(making_body, struct grouped *test)
{
	const int error = ivl_inline("may have returned", begin_making, test);

	return error ? error : ivl_group_wait(&test->group);
}

/* An interval made at that moment is not waited for in vain. */
TEST(made_after_the_body)
{
	TEST_WORKERS(runtime, 3);

	for (int i = 0; i < (TEST_SLOW ? 300 : 3000); i++) {
		struct grouped test = { .group = IVL_GROUP_INIT, .late = makes_one_more,
					.pause = i % 300 };

		test_run(runtime, making_body, &test);
		assert_int_equal(atomic_load(&test.ran), 1);
	}
}

TEST_ON_ALL(no_children_of_what_has_ended)
{
	struct grouped test = { .group = IVL_GROUP_INIT, .late = makes_children };

	test_run(runtime, late_body, &test);
	assert_int_equal(atomic_load(&test.ran), 1);
}

ASYNC(fail_then_count, struct grouped *test)
{
	if (atomic_fetch_add(&test->begun, 1) == 3) {
		ivl_group_cancel(ivl_group_current(), EIO);
		ivl_group_cancel(ivl_group_current(), EPERM);
	}
	if (!ivl_group_error(ivl_group_current()))
		atomic_fetch_add(&test->ran, 1);
}

static void many_failing(void *arg)
{
	for (int i = 0; i < 1000; i++)
		assert_int_equal(ivl_async(fail_then_count, &arg, sizeof(arg), NULL), 0);
}

/* One async fails: the finish returns its error, and the rest do not begin. */
TEST_ON_ALL(failing)
{
	struct grouped test = { .error = 0 };

	assert_int_equal(test_try_finish(runtime, many_failing, &test), EIO);
	assert_true(test.ran < test.begun);
	/* With more workers some may begin before the error is set. */
	if (ivl_worker_count(runtime) == 1)
		assert_int_equal(test.begun, 4);
}

/* Larger than a stack, whatever the policy: such an async is not called at once. */
struct large {
	char bytes[1 << 20];
	_Atomic long *sum;
};

TASK(add_large, const struct large *large)
{
	atomic_fetch_add(large->sum, large->bytes[0] + large->bytes[sizeof(large->bytes) - 1]);
}

TASK(make_large, const struct large *large)
{
	struct ivl_group group = IVL_GROUP_INIT;

	for (int i = 0; i < 3; i++)
		assert_int_equal(ivl_async(add_large, large, sizeof(*large), NULL), 0);
	assert_int_equal(ivl_group_async(&group, add_large, large, sizeof(*large), NULL), 0);
	assert_int_equal(ivl_group_wait(&group), 0);
}

TEST(large)
{
	static struct large large;

	large.bytes[0] = 3;
	large.bytes[sizeof(large.bytes) - 1] = 4;
	test_on_policies(config, 2) {
		_Atomic long sum = 0;

		config.stack_bytes = 64 << 10;
		large.sum = &sum;
		TEST_RUNTIME(runtime, &config);
		test_finish(runtime, make_large, &large);
		assert_int_equal(atomic_load(&sum), 4 * 7);
	}
}

/*
 * An interval inside a group's task starts an async in the group. The async may outlive that
 * interval, and runs in the interval that waits for the group.
 */
struct outliving {
	struct ivl_group group;
	ivl_interval *waits;
	_Atomic bool over;
	_Atomic int wrong, ran;
	bool isolated;
};

ASYNC(look_after, struct outliving *test)
{
	ivl_interval *made;

	/* Until the inner interval has ended, if another worker runs it. */
	for (int i = 0; i < 20 && !atomic_load(&test->over); i++)
		usleep(1000);
	if (ivl_current() != test->waits)
		atomic_fetch_add(&test->wrong, 1);
	made = ivl_create(ivl_current(), "made", NULL, NULL, NULL);
	if (made)
		ivl_release(made);
	else
		atomic_fetch_add(&test->wrong, 1);
	atomic_fetch_add(&test->ran, 1);
}

BODY(inside, struct outliving *test)
{
	return ivl_group_async(&test->group, look_after, &test, sizeof(test), NULL);
}

ASYNC(with_inside, struct outliving *test)
{
	if (test->isolated ? ivl_isolated(NULL, 0, inside, test) : ivl_inline(NULL, inside, test))
		atomic_fetch_add(&test->wrong, 1);
	atomic_store(&test->over, true);
}

BODY(outliving_body, struct outliving *test)
{
	test->waits = self;
	for (int i = 0; i < 2; i++) {
		test->isolated = i;
		atomic_store(&test->over, false);
		if (ivl_group_async(&test->group, with_inside, &test, sizeof(test), NULL) ||
		    ivl_group_wait(&test->group))
			return EPROTO;
	}
	return 0;
}

TEST_ON_ALL(outliving)
{
	struct outliving test = { .group = IVL_GROUP_INIT };

	test_run(runtime, outliving_body, &test);
	assert_int_equal(atomic_load(&test.wrong), 0);
	assert_int_equal(atomic_load(&test.ran), 2);
}

/* The interval that starts a group's first async may end before it, but is kept. */
ASYNC(count_current, struct outliving *test)
{
	if (!strcmp(ivl_name(ivl_current()), "first"))
		atomic_fetch_add(&test->ran, 1);
	if (ivl_create(ivl_current(), "late", NULL, NULL, NULL))
		atomic_fetch_add(&test->wrong, 1);
}

BODY(start_first, struct outliving *test)
{
	return ivl_group_async(&test->group, count_current, &test, sizeof(test), NULL);
}

BODY(first_body, struct outliving *test)
{
	ivl_interval *others[3];

	if (ivl_inline("first", start_first, test))
		return EPROTO;
	for (int i = 0; i < 3; i++)
		others[i] = ivl_create(self, "other", NULL, NULL, NULL);
	if (ivl_group_wait(&test->group))
		return EPROTO;
	for (int i = 0; i < 3; i++)
		ivl_release(others[i]);
	return 0;
}

TEST(started_in_what_ends)
{
	struct ivl_config config = test_config(1);
	struct outliving test = { .group = IVL_GROUP_INIT };

	config.policy = IVL_HELP_FIRST;
	test_run_on(&config, first_body, &test);
	assert_int_equal(atomic_load(&test.ran), 1);
	assert_int_equal(atomic_load(&test.wrong), 0);
}

BODY(cancelled_body, struct grouped *test)
{
	ivl_group_async(&test->group, count_grouped, &test, sizeof(test), NULL);
	ivl_group_cancel(&test->group, ECANCELED);
	ivl_group_async(&test->group, count_grouped, &test, sizeof(test), NULL);
	test->error = ivl_group_wait(&test->group);
	/* The group can be used again. */
	assert_int_equal(ivl_group_error(&test->group), 0);
	ivl_group_async(&test->group, count_grouped, &test, sizeof(test), NULL);
	return ivl_group_wait(&test->group);
}

TEST(cancelled_group)
{
	struct ivl_config config = test_config(1);
	struct grouped test = { .group = IVL_GROUP_INIT };

	config.policy = IVL_HELP_FIRST;
	test_run_on(&config, cancelled_body, &test);
	assert_int_equal(test.error, ECANCELED);
	assert_int_equal(test.ran, 1);
}

TEST_MAIN(NULL, NULL)
