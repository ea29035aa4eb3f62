// SPDX-License-Identifier: LGPL-2.1-or-later
/* Intervals of high priority begin first, wherever a worker takes work. */
#include "test_runtimes.h"

#define INTERVALS 40

struct order {
	_Atomic int begun, high_begun, waited;
	_Atomic int failures;
	ivl_runtime *runtime;
	_Atomic bool flag, other_flag;
};

OK_BODY(begin_normal, void *arg)
{
	atomic_fetch_add(&((struct order *)arg)->begun, 1);
}

/* How many normal intervals have begun. */
OK_BODY(begin_high, struct order *order)
{
	atomic_fetch_add(&order->high_begun, 1);
	if (atomic_load(&order->begun))
		order->failures++;
}

static ivl_interval *make(ivl_interval *parent, struct order *order, bool high)
{
	ivl_body *body = high ? begin_high : begin_normal;
	ivl_interval *made = ivl_create(parent, NULL, body, order, NULL);

	if (!made || (high && ivl_set_priority(made, IVL_PRIORITY_HIGH)))
		abort();
	return made;
}

/* First, last, and in between; the body is over when they begin. */
OK_BODY(schedule_all, void *arg)
{
	for (int i = 0; i < INTERVALS; i++)
		ivl_release(make(self, arg, i % 7 == 0 || i == INTERVALS - 1));
}

/* And in a chain that its worker would follow. */
OK_BODY(schedule_chain, struct order *order)
{
	ivl_interval *first, *second;

	/* Becomes ready at the end of the first. */
	first = ivl_create(self, NULL, begin_high, order, NULL);
	for (int i = 0; i < 3; i++) {
		second = make(self, order, i == 1);
		ivl_add_edge(ivl_end_point(first), ivl_start_point(second));
		ivl_release(second);
	}
	ivl_release(first);
}

static void try_alone(const struct ivl_config *config, ivl_body *body, int high)
{
	struct order order = { .failures = 0 };

	test_run_on(config, body, &order);
	assert_int_equal(order.failures, 0);
	assert_int_equal(order.high_begun, high);
}

static int spawns(ivl_interval *self, void *arg);
static int asyncs(ivl_interval *self, void *arg);
static int syncs(ivl_interval *self, void *arg);

TEST(alone)
{
	test_on_queues(config, 1) {
		for (config.policy = 0; config.policy < IVL_POLICIES; config.policy++) {
			print_message("# %s, %s\n", ivl_queue_name(config.queue),
				      ivl_policy_name(config.policy));
			try_alone(&config, schedule_all, (INTERVALS + 6) / 7 + 1);
			try_alone(&config, schedule_chain, 2);
			try_alone(&config, spawns, 1);
			try_alone(&config, asyncs, 1);
			try_alone(&config, syncs, 1);
		}
	}
}

/* Made ready by a task that continues. */

static void schedule_high(struct order *order)
{
	ivl_release(make(ivl_current(), order, true));
	ivl_schedule();
}

static void begin_child(void *arg)
{
	atomic_fetch_add(&((struct order *)arg)->begun, 1);
}

/* At the spawn. */
OK_BODY(spawns, struct order *order)
{
	schedule_high(order);
	spawn_and_sync(1, begin_child, order);
}

static void begin_async(void *arg)
{
	begin_child(*(struct order **)arg);
}

static void make_async(void *arg)
{
	schedule_high(arg);
	if (ivl_async(begin_async, &arg, sizeof(arg), NULL))
		abort();
}

FINISH_BODY(asyncs, make_async)

/* The first of many children makes it, when all have been spawned. */
TASK(make_once, struct order *order)
{
	if (!atomic_exchange(&order->flag, true))
		schedule_high(order);
	else if (!atomic_load(&order->high_begun) && atomic_fetch_add(&order->waited, 1) >= 8)
		order->failures++;
}

OK_BODY(syncs, void *arg)
{
	spawn_and_sync(30, make_once, arg);
}

/*
 * A thief that ends a task takes one of high priority next, although its victim's queue was full
 * before that one came.
 */

ASYNC(hold_thief, struct order *order)
{
	atomic_store(&order->flag, true);
	test_comes_true(atomic_load(&order->other_flag));
}

static void wait_for_thief(struct order *order)
{
	if (ivl_async(hold_thief, &order, sizeof(order), NULL) ||
	    !test_comes_true(atomic_load(&order->flag)))
		order->failures++;
}

/* Help-first: all this is in the queue of a busy worker. */
TASK(fill_queue, struct order *order)
{
	wait_for_thief(order);
	for (int i = 0; i < INTERVALS; i++)
		if (ivl_async(begin_async, &order, sizeof(order), NULL))
			abort();
	schedule_high(order);
	atomic_store(&order->other_flag, true);
	test_comes_true(atomic_load(&order->high_begun));
}

TEST(thief)
{
	test_on_queues(config, 2) {
		struct order order = { .failures = 0 };

		config.policy = IVL_HELP_FIRST;
		config.places = IVL_PLACES_ONE;
		TEST_RUNTIME(runtime, &config);
		test_finish(runtime, fill_queue, &order);
		assert_int_equal(order.failures, 0);
		assert_int_equal(order.high_begun, 1);
		assert_int_equal(order.begun, INTERVALS);
	}
}

/* A worker passes on its next task when one of high priority comes first. */

/* Lets the other worker go, and does not end before the other interval has begun there. */
OK_BODY(need_other, struct order *order)
{
	atomic_store(&order->other_flag, true);
	if (!test_comes_true(atomic_load(&order->begun)))
		order->failures++;
}

TASK(wait_inside, struct order *order)
{
	ivl_interval *high;

	wait_for_thief(order);
	high = ivl_create(ivl_current(), NULL, need_other, order, NULL);
	if (!high || ivl_set_priority(high, IVL_PRIORITY_HIGH))
		abort();
	ivl_release(high);
	ivl_schedule();
	/* Its child is next when the caller waits. */
	if (ivl_isolated(NULL, 0, begin_normal, order))
		order->failures++;
}

TEST(next)
{
	struct ivl_config config = test_config(2);
	struct order order = { .failures = 0 };

	config.policy = IVL_HELP_FIRST;
	config.places = IVL_PLACES_ONE;
	TEST_RUNTIME(runtime, &config);
	test_finish(runtime, wait_inside, &order);
	assert_int_equal(order.failures, 0);
	assert_int_equal(order.begun, 1);
}

/* No interval is lost while all workers take them, and sleep in between. */
static int mix(ivl_interval *self, void *arg)
{
	for (int round = 0; round < 50; round++) {
		ivl_interval *last = NULL;

		for (int i = 0; i < 10; i++) {
			if (last)
				ivl_release(last);
			last = make(self, arg, i % 2);
		}
		ivl_schedule();
		if (ivl_join(ivl_end_point(last)))
			return EPROTO;
		ivl_release(last);
	}
	return 0;
}

TEST_ON_ALL(mix)
{
	struct order order = { .failures = 0 };

	test_run(runtime, mix, &order);
	assert_int_equal(order.begun, 250);
	assert_int_equal(order.high_begun, 250);
}

OK_BODY(refuse, struct order *order)
{
	ivl_interval *made = make(self, order, false);

	if (ivl_set_priority(made, IVL_PRIORITIES) != EINVAL ||
	    ivl_set_priority(made, IVL_PRIORITY_HIGH) ||
	    ivl_set_priority(made, IVL_PRIORITY_NORMAL) ||
	    ivl_set_priority(self, IVL_PRIORITY_HIGH) != EALREADY)
		order->failures++;
	ivl_schedule();
	if (ivl_set_priority(made, IVL_PRIORITY_HIGH) != EALREADY ||
	    !strstr(ivl_last_error(), "it may have started"))
		order->failures++;
	ivl_release(made);
}

TEST(refused)
{
	struct order order = { .failures = 0 };
	TEST_WORKERS(runtime, 1);

	test_run(runtime, refuse, &order);
	assert_int_equal(order.failures, 0);
}

TEST_MAIN(NULL, NULL)
