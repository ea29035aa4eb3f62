// SPDX-License-Identifier: LGPL-2.1-or-later
/* Asyncs with a policy of their own. */
#include "test_runtimes.h"

#define ASYNCS 200		/* of each policy */

struct mixed {
	_Atomic int ran[IVL_POLICIES];
	_Atomic int moved;
	bool alone;			/* there is one worker */
};

struct mixed_async {
	struct mixed *test;
	enum ivl_policy policy;
	pid_t spawner;			/* the thread that made it */
};

TASK(run_mixed, struct mixed_async *async)
{
	/* Work-first: in the thread that made it; the spawner may have moved. */
	if (async->policy == IVL_WORK_FIRST && gettid() != async->spawner)
		atomic_fetch_add(&async->test->moved, 1);
	atomic_fetch_add(&async->test->ran[async->policy], 1);
}

static void make_one(struct mixed *test, enum ivl_policy policy)
{
	struct mixed_async async = { test, policy, gettid() };
	const int before = atomic_load(&test->ran[policy]);

	assert_int_equal(ivl_async_by(policy, run_mixed, &async, sizeof(async), NULL), 0);
	/* Help-first: the spawner continues at once in its thread. */
	if (policy == IVL_HELP_FIRST && gettid() != async.spawner)
		atomic_fetch_add(&test->moved, 1);
	if (test->alone && policy != IVL_ADAPTIVE)
		assert_int_equal(atomic_load(&test->ran[policy]) - before,
				 policy == IVL_WORK_FIRST);
}

static void make_mixed(void *arg)
{
	for (int i = 0; i < ASYNCS; i++)
		for (int policy = 0; policy < IVL_POLICIES; policy++)
			make_one(arg, policy);
}

TEST_ON_ALL(mixed)
{
	struct mixed test = { .alone = ivl_worker_count(runtime) == 1 };

	test_finish(runtime, make_mixed, &test);
	for (int policy = 0; policy < IVL_POLICIES; policy++)
		assert_int_equal(atomic_load(&test.ran[policy]), ASYNCS);
	assert_int_equal(atomic_load(&test.moved), 0);
}

/* The order of one worker's steps. */
struct order {
	struct ivl_group group;
	char done[16];
	int count;
};

struct step {
	struct order *order;
	char name;
};

TASK(do_step, const struct step *step)
{
	step->order->done[step->order->count++] = step->name;
}

static void then(struct order *order, enum ivl_policy policy, char name)
{
	struct step step = { order, name };

	assert_int_equal(ivl_async_by(policy, do_step, &step, sizeof(step), NULL), 0);
}

static void group_then(struct order *order, enum ivl_policy policy, char name)
{
	struct step step = { order, name };

	assert_int_equal(ivl_group_async_by(&order->group, policy, do_step, &step, sizeof(step),
					    NULL), 0);
}

static void make_in_order(void *arg)
{
	then(arg, IVL_HELP_FIRST, 'c');
	then(arg, IVL_WORK_FIRST, 'a');
	do_step(&(struct step){ arg, '1' });
	then(arg, IVL_HELP_FIRST, 'b');
	do_step(&(struct step){ arg, '2' });
}

BODY(order_body, struct order *order)
{
	ivl_finish(make_in_order, order);
	do_step(&(struct step){ order, '3' });
	group_then(order, IVL_HELP_FIRST, 'e');
	group_then(order, IVL_WORK_FIRST, 'd');
	do_step(&(struct step){ order, '4' });
	return ivl_group_wait(&order->group);
}

/*
 * One child runs before its spawner continues (a); the rest leave the queue last in, first out.
 * The policies decide how many tasks are queued, and how many of these are spawners.
 */
TEST(order)
{
	test_on_policies(config, 1) {
		struct order order = { .group = IVL_GROUP_INIT };

		config.statistics = true;
		TEST_RUNTIME(runtime, &config);
		test_run(runtime, order_body, &order);
		/* "a" takes its spawner from the queue, not "c". */
		assert_string_equal(order.done, "a12bc3d4e");
		assert_int_equal(test_counts(runtime).spawners, 2);
	}
}

/* Adaptive asyncs adapt under any policy of the runtime: here, to the queue's length. */
static void make_adaptive(void *arg)
{
	for (char name = 'a'; name < 'a' + 7; name++) {
		then(arg, IVL_ADAPTIVE, name);
		do_step(&(struct step){ arg, '-' });
	}
}

static void expect_adaptive(struct ivl_config *config, const char *done)
{
	struct order order = { .count = 0 };
	TEST_RUNTIME(runtime, config);

	test_finish(runtime, make_adaptive, &order);
	assert_string_equal(order.done, done);
}

TEST(adaptive)
{
	const unsigned int usual = test_config(1).adapt_interval;

	test_on_policies(config, 1) {
		config.adapt_interval = usual;
		config.adapt_fresh = 4;
		/* Help-first until four are queued; then each is called. */
		expect_adaptive(&config, "----e-f-g-dcba");
		/* And without thieves. */
		config.adapt_interval = 3;
		expect_adaptive(&config, "--c-d-e-f-g-ba");
	}
}

/* No stack is left: whatever the policy, an async waits in the queue for one. */
struct stackless {
	_Atomic int ran;
};

static void count_ran(void *arg)
{
	atomic_fetch_add(&(*(struct stackless **)arg)->ran, 1);
}

TASK(make_without_stack, struct stackless *test)
{
	for (int policy = 0; policy < IVL_POLICIES; policy++)
		assert_int_equal(ivl_async_by(policy, count_ran, &test, sizeof(test), NULL), 0);
	assert_int_equal(atomic_load(&test->ran), 0);
}

static int stackless_body(ivl_interval *self, void *arg)
{
	struct ivl_group group = IVL_GROUP_INIT;
	const int error = ivl_finish(make_without_stack, arg);

	for (int policy = 0; policy < IVL_POLICIES; policy++)
		assert_int_equal(ivl_group_async_by(&group, policy, count_ran, &arg, sizeof(arg),
						    NULL), 0);
	return error ? error : ivl_group_wait(&group);
}

TEST(stackless)
{
	test_on_policies(config, 1) {
		struct stackless test = { .ran = 0 };

		config.fibers_per_worker = 1;
		/* The adaptive one would be called. */
		config.adapt_fresh = 0;
		test_run_on(&config, stackless_body, &test);
		assert_int_equal(atomic_load(&test.ran), 2 * IVL_POLICIES);
	}
}

/* A chain of tasks, each in its spawner's frame, with more tasks than stacks. */
#define CHAIN (TEST_SLOW ? 300 : 10000)
#define FEW_FIBERS 16

static _Atomic int links;

static void spawn_chain(void *arg)
{
	int left = *(int *)arg - 1;
	struct ivl_scope scope = IVL_SCOPE_INIT;
	struct ivl_task task;

	atomic_fetch_add(&links, 1);
	if (!left)
		return;
	assert_int_equal(ivl_spawn(&scope, &task, spawn_chain, &left), 0);
	ivl_sync(&scope);
}

static void async_chain(void *arg);

static void async_next(void *arg)
{
	assert_int_equal(ivl_async(async_chain, arg, sizeof(int), NULL), 0);
}

static void async_chain(void *arg)
{
	int left = *(int *)arg - 1;

	atomic_fetch_add(&links, 1);
	if (left)
		assert_int_equal(ivl_finish(async_next, &left), 0);
}

static void try_chain(const struct ivl_config *config, ivl_function *function)
{
	int length = CHAIN;
	TEST_RUNTIME(runtime, config);

	atomic_store(&links, 0);
	test_call(runtime, function, &length);
	assert_int_equal(atomic_load(&links), CHAIN);
}

TEST(chains)
{
	for (int policy = 0; policy < IVL_POLICIES; policy++) {
		test_on_counts(workers) {
			struct ivl_config config = test_config(workers);

			print_message("# %s, %u workers\n", ivl_policy_name(policy), workers);
			config.policy = policy;
			try_chain(&config, spawn_chain);
			config.fibers_per_worker = FEW_FIBERS;
			try_chain(&config, async_chain);
			/* With statistics other functions put and take. */
			config.statistics = true;
			try_chain(&config, spawn_chain);
		}
	}
}

/* Called in its spawner's place, it would need stack for its argument. */
struct large {
	_Atomic int *ran;
	char rest[1024];
};

static void count_large(void *arg)
{
	atomic_fetch_add(((struct large *)arg)->ran, 1);
}

static void make_large(void *arg)
{
	struct large large = { .ran = arg };

	assert_int_equal(ivl_async_by(IVL_WORK_FIRST, count_large, &large, sizeof(large), NULL), 0);
	assert_int_equal(atomic_load(large.ran), 0);
	assert_int_equal(ivl_async_by(IVL_WORK_FIRST, count_large, &large, 1024, NULL), 0);
	assert_int_equal(atomic_load(large.ran), 1);
}

TEST(large)
{
	static const char *const probes[] = { "off", "on" };

	/* The probes' record takes no part of that stack. */
	for (int i = 0; i < 2; i++) {
		_Atomic int ran = 0;

		setenv("INTERVALS_PROBES", probes[i], 1);
		TEST_WORKERS(runtime, 1);
		test_finish(runtime, make_large, &ran);
		assert_int_equal(atomic_load(&ran), 2);
	}
	unsetenv("INTERVALS_PROBES");
}

OK_BODY(wrong_body, void *arg)
{
	struct ivl_group group = IVL_GROUP_INIT;

	assert_int_equal(ivl_async_by(IVL_WORK_FIRST, count_large, NULL, 0, NULL), EINVAL);
	assert_string_equal(ivl_last_error(), "async_by: not inside a finish");
	assert_int_equal(ivl_group_async_by(&group, IVL_POLICIES, count_large, NULL, 0, NULL),
			 EINVAL);
	assert_string_equal(ivl_last_error(), "group_async_by: no such policy");
}

static void ask_wrongly(void *arg)
{
	*(int *)arg = ivl_async_by(IVL_POLICIES, count_large, NULL, 0, NULL);
}

TEST(wrong)
{
	TEST_WORKERS(runtime, 1);
	int error = 0;

	test_run(runtime, wrong_body, NULL);
	test_finish(runtime, ask_wrongly, &error);
	assert_int_equal(error, EINVAL);
}

TEST_MAIN(NULL, NULL)
