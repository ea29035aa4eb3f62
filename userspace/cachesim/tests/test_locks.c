// SPDX-License-Identifier: GPL-2.0
/* Hand-offs of locks: between which threads and CPUs, and for how long. */
#include "test_machine.h"

#include <linux/futex.h>
#include <string.h>

#include "locks.h"

#define SPACE 0x1000ull
#define OTHER_SPACE 0x2000ull
#define LOCK 0x404040ull
#define EAGAIN_RESULT ((uint64_t)-11)

static struct futexes *futexes;
static struct handoffs *handoffs;
static struct locks *locks;

static void begin_region(void)
{
	futexes_begin(futexes, SPACE);
	handoffs_begin(handoffs);
	locks_begin(locks);
}

SET_UP
{
	futexes = futexes_new(FUTEXES_OWN);
	assert_non_null(futexes);
	handoffs = handoffs_new();
	assert_non_null(handoffs);
	locks = locks_new(futexes);
	assert_non_null(locks);
	begin_region();
	return 0;
}

TEAR_DOWN
{
	locks_free(locks);
	handoffs_free(handoffs);
	futexes_free(futexes);
	return 0;
}

static void call(struct lock_event event, uint64_t number, const uint64_t arguments[3])
{
	struct handoff_news news;

	assert_int_equal(handoffs_call(handoffs, &event, number, arguments, &news), 0);
	assert_int_equal(locks_call(locks, &event, number, arguments, &news), 0);
}

static void call_in(uint64_t space, uint64_t thread, unsigned int cpu, uint64_t ns,
		    uint64_t address, uint64_t op, uint64_t value)
{
	const uint64_t arguments[] = { address, op, value };

	call((struct lock_event){ space, thread, cpu, ns }, 202, arguments);
}

static void wait(uint64_t thread, unsigned int cpu, uint64_t ns)
{
	call_in(SPACE, thread, cpu, ns, LOCK, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 2);
}

static void release(uint64_t thread, unsigned int cpu, uint64_t ns)
{
	call_in(SPACE, thread, cpu, ns, LOCK, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
}

/* Some system call that has nothing to do with locks. */
static void go_on(uint64_t thread, unsigned int cpu, uint64_t ns)
{
	const uint64_t arguments[] = { LOCK, FUTEX_WAIT, 0 };

	call((struct lock_event){ SPACE, thread, cpu, ns }, 1, arguments);
}

static void answer(uint64_t thread, unsigned int cpu, uint64_t ns, uint64_t result)
{
	const struct lock_event event = { SPACE, thread, cpu, ns };
	struct handoff_news news;

	handoffs_return(handoffs, &event, result, &news);
	assert_int_equal(locks_return(locks, &event, &news), 0);
}

static const struct lock_use *use_of(uint64_t address)
{
	return &futexes_at(futexes, SPACE, address)->use;
}

static void expect_times(struct lock_times times, uint64_t count, uint64_t ns)
{
	assert_int_equal(times.count, count);
	assert_int_equal(times.ns, ns);
}

FIXTURE_TEST(a_lock_is_taken_where_it_was_released_or_elsewhere)
{
	const struct lock_use *use;

	wait(2, 1, 1000);
	release(1, 0, 2000);
	answer(1, 0, 2100, 1);
	answer(2, 1, 2500, 0);		/* on another CPU, its own */
	wait(1, 0, 3000);
	release(2, 1, 4000);
	answer(2, 1, 4100, 1);
	answer(1, 1, 4200, 0);		/* moved to where it was released */
	release(1, 1, 4900);
	answer(1, 1, 5000, 0);
	/* It has taken the free lock meanwhile, without a call. */
	release(1, 1, 5500);
	answer(1, 1, 5600, 0);
	use = use_of(LOCK);
	assert_int_equal(use->remote, 1);
	assert_int_equal(use->local, 1);
	assert_int_equal(use->moved, 1);
	assert_int_equal(use->left, 0);
	expect_times(use->handoff, 2, 500 + 200);
	expect_times(use->hold_remote, 1, 1500);
	expect_times(use->hold_local, 1, 700);
	expect_times(use->outside, 1, 1000);
	assert_false(handoffs_expects_return(handoffs));
}

FIXTURE_TEST(waiters_left_behind_are_counted_once)
{
	for (uint64_t thread = 2; thread <= 5; thread++)
		wait(thread, 0, thread);
	call_in(SPACE, 6, 0, 6, LOCK + 4, FUTEX_WAIT, 2);
	call_in(OTHER_SPACE, 6, 0, 6, LOCK, FUTEX_WAIT, 2);
	/* Its waiter is back before it is itself. */
	release(1, 0, 10);
	answer(2, 0, 20, 0);
	answer(1, 0, 30, 1);
	assert_int_equal(use_of(LOCK)->left, 3);
	/* Of two calls at a time each wakes one. */
	release(1, 0, 40);
	release(7, 1, 40);
	answer(1, 0, 50, 1);
	answer(7, 1, 50, 1);
	assert_int_equal(use_of(LOCK)->left, 3 + 2 + 1);
	/* A release that wakes no thread leaves no waiter. */
	release(8, 1, 60);
	answer(8, 1, 70, 0);
	assert_int_equal(use_of(LOCK)->left, 6);
	assert_int_equal(use_of(LOCK + 4)->left, 0);
}

FIXTURE_TEST(who_waits_again_has_taken_nothing)
{
	wait(2, 1, 1000);
	release(1, 0, 2000);
	answer(1, 0, 2100, 1);
	answer(2, 1, 2500, 0);
	wait(2, 1, 2600);
	assert_int_equal(use_of(LOCK)->remote, 0);
	release(1, 0, 3000);
	answer(1, 0, 3100, 1);
	answer(2, 0, 3500, 0);
	go_on(2, 0, 3600);
	assert_int_equal(use_of(LOCK)->local, 1);
	assert_int_equal(use_of(LOCK)->moved, 1);
	expect_times(use_of(LOCK)->handoff, 1, 500);
}

/* The kernel looks for waiters somewhere between a release's call and its return. */
FIXTURE_TEST(a_release_wakes_whom_came_while_it_ran)
{
	release(1, 0, 1000);
	wait(2, 1, 1100);
	answer(1, 0, 1200, 1);
	answer(2, 1, 1500, 0);
	release(2, 1, 1600);
	answer(2, 1, 1700, 0);
	expect_times(use_of(LOCK)->hold_remote, 1, 100);
	/* But not a waiter that comes after it. */
	wait(3, 0, 1800);
	release(1, 0, 1900);
	answer(1, 0, 2000, 1);
	wait(4, 0, 2100);
	answer(4, 0, 2200, 0);
	go_on(4, 0, 2300);
	assert_int_equal(use_of(LOCK)->local, 0);
	answer(3, 0, 2400, 0);
	go_on(3, 0, 2500);
	assert_int_equal(use_of(LOCK)->local, 1);
}

FIXTURE_TEST(a_refused_or_interrupted_wait_takes_nothing)
{
	wait(2, 1, 1000);
	release(1, 0, 2000);
	answer(2, 1, 2100, EAGAIN_RESULT);
	assert_true(handoffs_expects_return(handoffs));
	answer(1, 0, 2200, 0);
	wait(3, 1, 3000);
	go_on(3, 1, 3100);
	release(3, 1, 3200);
	answer(3, 1, 3300, 0);
	assert_int_equal(use_of(LOCK)->local + use_of(LOCK)->remote, 0);
	expect_times(use_of(LOCK)->hold_local, 0, 0);
	expect_times(use_of(LOCK)->hold_remote, 0, 0);
	assert_false(handoffs_expects_return(handoffs));
}

/* A waiter that returns before a release that wakes no thread has taken another release, alone. */
FIXTURE_TEST(each_release_is_taken_once)
{
	wait(2, 1, 1000);
	release(1, 1, 1100);		/* wakes no thread */
	release(3, 0, 1200);
	answer(3, 0, 1300, 1);
	answer(2, 1, 1400, 0);
	answer(1, 1, 1500, 0);
	go_on(2, 1, 1600);
	assert_false(handoffs_expects_return(handoffs));
	assert_int_equal(use_of(LOCK)->local + use_of(LOCK)->remote, 1);
}

/* A condition variable's waiter has taken it when it is back, and holds nothing. */
FIXTURE_TEST(other_waits_have_no_hold_time)
{
	const struct lock_use *use;

	call_in(SPACE, 2, 1, 1000, LOCK, FUTEX_WAIT_BITSET, 0);
	release(1, 1, 2000);
	answer(1, 1, 2100, 1);
	answer(2, 1, 2500, 0);
	use = use_of(LOCK);
	assert_int_equal(use->local, 1);
	call_in(SPACE, 2, 1, 2600, LOCK, FUTEX_WAIT_BITSET, 0);
	release(1, 1, 2700);
	answer(1, 1, 2800, 1);
	answer(2, 1, 2900, 0);
	release(2, 1, 3000);
	call_in(SPACE, 2, 1, 3100, LOCK, FUTEX_WAIT_BITSET, 0);
	use = use_of(LOCK);
	assert_int_equal(use->local, 2);
	expect_times(use->handoff, 0, 0);
	expect_times(use->hold_local, 0, 0);
	expect_times(use->outside, 0, 0);
}

/* Holds of several locks, one inside of the other, each have their own end. */
FIXTURE_TEST(each_lock_has_its_own_times)
{
	wait(2, 0, 1000);
	release(1, 0, 1100);
	answer(1, 0, 1200, 1);
	answer(2, 0, 1300, 0);
	call_in(SPACE, 2, 0, 1400, LOCK + 4, FUTEX_WAIT, 2);
	call_in(SPACE, 1, 0, 1500, LOCK + 4, FUTEX_WAKE, 1);
	answer(1, 0, 1600, 1);
	answer(2, 0, 1700, 0);
	call_in(SPACE, 2, 0, 1800, LOCK + 4, FUTEX_WAKE, 1);
	answer(2, 0, 1850, 0);
	release(2, 0, 2000);
	answer(2, 0, 2100, 0);
	expect_times(use_of(LOCK)->hold_local, 1, 700);
	expect_times(use_of(LOCK + 4)->hold_local, 1, 100);
	call_in(SPACE, 2, 0, 2200, LOCK + 4, FUTEX_WAIT, 2);
	expect_times(use_of(LOCK + 4)->outside, 1, 400);
	expect_times(use_of(LOCK)->outside, 0, 0);
}

/* A release in a region may wake a thread that waited before it; all else begins anew. */
FIXTURE_TEST(a_region_begins_with_its_waiters)
{
	wait(4, 1, 900);
	release(1, 0, 910);
	answer(1, 0, 920, 1);
	answer(4, 1, 930, 0);
	go_on(4, 1, 940);
	wait(2, 1, 1000);
	wait(3, 1, 1000);
	release(1, 0, 1100);
	answer(1, 0, 1200, 1);
	answer(2, 1, 1300, 0);
	begin_region();
	release(2, 1, 1400);
	answer(2, 1, 1500, 1);
	expect_times(use_of(LOCK)->hold_remote, 0, 0);
	answer(3, 1, 1600, 0);
	release(4, 1, 1700);
	answer(4, 1, 1800, 0);
	expect_times(use_of(LOCK)->hold_remote, 0, 0);
	assert_int_equal(locks_end(locks, handoffs), 0);
	assert_int_equal(use_of(LOCK)->local, 1);
	assert_int_equal(use_of(LOCK)->remote, 0);
	assert_int_equal(use_of(LOCK)->left, 0);
}

/* Its call is not counted (futexes.h), and neither may be what becomes of it. */
FIXTURE_TEST(a_release_from_before_the_region_is_none_of_it)
{
	for (uint64_t thread = 2; thread <= 4; thread++)
		wait(thread, 1, 1000);
	release(1, 0, 1100);
	begin_region();
	answer(1, 0, 1200, 1);
	answer(2, 1, 1300, 0);
	go_on(2, 1, 1400);
	assert_int_equal(use_of(LOCK)->local + use_of(LOCK)->remote, 0);
	assert_int_equal(use_of(LOCK)->left, 0);
	release(2, 1, 1500);
	answer(2, 1, 1600, 1);
	answer(3, 1, 1700, 0);
	go_on(3, 1, 1800);
	assert_int_equal(use_of(LOCK)->local, 1);
	assert_int_equal(use_of(LOCK)->left, 1);
	expect_times(use_of(LOCK)->handoff, 1, 200);
}

/* The clocks of two CPUs differ by a little. */
FIXTURE_TEST(no_time_is_below_0)
{
	wait(2, 1, 1000);
	release(1, 0, 1100);
	answer(1, 0, 1150, 1);
	answer(2, 1, 1050, 0);
	release(2, 1, 1040);
	expect_times(use_of(LOCK)->handoff, 1, 0);
	expect_times(use_of(LOCK)->hold_remote, 1, 0);
}

RUN_TESTS(NULL, NULL)
