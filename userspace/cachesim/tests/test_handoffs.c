// SPDX-License-Identifier: GPL-2.0
/* Which system calls are a hand-off, from when to when. */
#include "test_machine.h"

#include <errno.h>
#include <linux/futex.h>

#include "handoffs.h"

#define PROGRAM 0x1000ull
#define OTHER 0x2000ull
#define LOCK 0x404040ull
#define COND 0x404080ull

#define SYS_FUTEX 202
#define SYS_READ 0

static struct handoffs *h;

SET_UP
{
	h = handoffs_new();
	return h ? 0 : -1;
}

TEAR_DOWN
{
	handoffs_free(h);
	return 0;
}

static void call(uint64_t space, uint64_t thread, uint64_t number, uint64_t address, uint64_t op,
		 uint64_t value, uint64_t ns)
{
	const uint64_t arguments[] = { address, op, value };
	const struct lock_event event = { space, thread, 0, ns };
	struct handoff_news news;

	assert_int_equal(handoffs_call(h, &event, number, arguments, &news), 0);
}

static void futex(uint64_t thread, uint64_t address, uint64_t op, uint64_t value, uint64_t ns)
{
	call(PROGRAM, thread, SYS_FUTEX, address, op | FUTEX_PRIVATE_FLAG, value, ns);
}

static void waits(uint64_t thread, uint64_t address)
{
	futex(thread, address, FUTEX_WAIT, 2, 1);
}

static void wakes(uint64_t thread, uint64_t address, uint64_t ns)
{
	futex(thread, address, FUTEX_WAKE, 1, ns);
}

static void returns_in(uint64_t space, uint64_t thread, uint64_t result, uint64_t ns)
{
	const struct lock_event event = { space, thread, 0, ns };
	struct handoff_news news;

	handoffs_return(h, &event, result, &news);
}

static void returns(uint64_t thread, uint64_t result, uint64_t ns)
{
	returns_in(PROGRAM, thread, result, ns);
}

#define LATENCIES_OF(space, out) handoffs_latencies(h, space, out)
#include "latencies_are.h"

FIXTURE_TEST(it_lasts_from_the_wake_to_the_return)
{
	assert_false(handoffs_expects_return(h));
	waits(1, LOCK);
	assert_true(handoffs_expects_return(h));
	wakes(2, LOCK, 100);
	returns(2, 1, 150);
	returns(1, 0, 700);
	call(PROGRAM, 1, SYS_READ, LOCK, FUTEX_WAIT, 2, 900);
	assert_latencies(PROGRAM, 600);
	assert_false(handoffs_expects_return(h));
}

/* The kernel returns to a program from interrupts as well, with any number in its register. */
FIXTURE_TEST(other_returns_say_nothing)
{
	waits(1, LOCK);
	wakes(2, LOCK, 100);
	returns(2, 1, 150);
	returns(2, 0, 160);
	returns(3, 0, 170);
	returns(1, 0, 700);
	returns(1, 5, 800);
	assert_latencies(PROGRAM, 600);
	call(PROGRAM, 1, SYS_READ, 0, 0, 0, 900);
	assert_latencies(PROGRAM, 600);
	assert_false(handoffs_expects_return(h));
}

/* The waiter's own release, and a wait for another word. */
FIXTURE_TEST(any_other_call_says_that_it_has_the_lock)
{
	waits(1, LOCK);
	wakes(2, LOCK, 100);
	returns(1, 0, 140);
	wakes(1, LOCK, 200);
	assert_latencies(PROGRAM, 40);
	returns(1, 0, 210);
	returns(2, 1, 220);
	waits(1, LOCK);
	futex(2, LOCK, FUTEX_WAKE_BITSET, 1 | 1ull << 32, 300);
	returns(1, 0, 350);
	waits(1, COND);
	assert_latencies(PROGRAM, 40, 50);
}

FIXTURE_TEST(the_answer_may_come_before_the_releasing_call_returns)
{
	waits(1, LOCK);
	wakes(2, LOCK, 100);
	returns(1, 0, 130);
	returns(2, 1, 150);
	call(PROGRAM, 1, SYS_READ, 0, 0, 0, 160);
	assert_latencies(PROGRAM, 30);
	assert_false(handoffs_expects_return(h));
}

FIXTURE_TEST(at_the_end_who_is_back_has_the_lock)
{
	waits(1, LOCK);
	wakes(2, LOCK, 100);
	assert_latencies(PROGRAM);
	returns(1, 0, 170);
	assert_latencies(PROGRAM, 70);
}

/* A third thread was faster, and hands the lock over later. */
FIXTURE_TEST(who_has_to_wait_again_was_handed_nothing)
{
	waits(1, LOCK);
	wakes(2, LOCK, 100);
	returns(2, 1, 110);
	returns(1, 0, 200);
	waits(1, LOCK);
	assert_latencies(PROGRAM);
	wakes(3, LOCK, 1000);
	returns(3, 1, 1010);
	returns(1, 0, 1025);
	assert_latencies(PROGRAM, 25);
}

FIXTURE_TEST(waiters_get_the_releases_in_their_order)
{
	waits(1, LOCK);
	waits(2, LOCK);
	waits(3, COND);
	waits(6, LOCK);
	wakes(4, LOCK, 100);
	returns(4, 1, 110);
	wakes(5, COND, 120);
	wakes(4, LOCK, 200);
	returns(4, 1, 210);
	wakes(4, LOCK, 300);
	returns(4, 1, 310);
	returns(1, 0, 1000);
	returns(2, 0, 2000);
	returns(3, 0, 3000);
	returns(6, 0, 4000);
	assert_latencies(PROGRAM, 900, 1800, 2880, 3700);
}

/* It woke no thread, so it is no later waiter's release. */
FIXTURE_TEST(a_release_that_woke_nobody_is_none)
{
	wakes(2, LOCK, 100);
	returns(2, 0, 110);
	assert_false(handoffs_expects_return(h));
	waits(1, LOCK);
	returns(1, 0, 500);
	assert_latencies(PROGRAM);
}

/* As after a requeue, or when the woken thread was killed. */
FIXTURE_TEST(a_release_from_before_the_wait_is_another_ones)
{
	wakes(2, LOCK, 100);
	returns(2, 1, 110);
	waits(1, LOCK);
	returns(1, 0, 500);
	assert_latencies(PROGRAM);
}

/* It comes to the kernel's queue after a wait that was called later. */
FIXTURE_TEST(a_release_that_is_not_over_wakes_who_comes_meanwhile)
{
	wakes(2, LOCK, 100);
	waits(1, LOCK);
	returns(2, 1, 120);
	returns(1, 0, 150);
	call(PROGRAM, 1, SYS_READ, 0, 0, 0, 160);
	assert_latencies(PROGRAM, 50);
	wakes(2, LOCK, 200);
	waits(1, LOCK);
	returns(1, 0, 260);
	returns(2, 1, 270);
	assert_latencies(PROGRAM, 50, 60);
	call(PROGRAM, 1, SYS_READ, 0, 0, 0, 280);
	assert_false(handoffs_expects_return(h));
}

/* Another one did. Only when it returns is that known, but then to the next waiters, too. */
FIXTURE_TEST(a_release_that_seemed_to_wake_one_and_woke_none)
{
	wakes(2, LOCK, 100);
	waits(1, LOCK);
	wakes(3, LOCK, 110);
	waits(4, LOCK);
	returns(3, 1, 115);
	returns(1, 0, 120);
	returns(2, 0, 130);
	wakes(3, LOCK, 200);
	returns(4, 0, 230);
	returns(3, 1, 240);
	assert_latencies(PROGRAM, 20, 30);
	call(PROGRAM, 1, SYS_READ, 0, 0, 0, 250);
	call(PROGRAM, 4, SYS_READ, 0, 0, 0, 260);
	assert_false(handoffs_expects_return(h));
}

/* Conditions and semaphores use it up, but it is no mutex that they wait for. */
FIXTURE_TEST(waits_with_a_bitset_are_no_hand_offs)
{
	futex(1, COND, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 0, 1);
	wakes(2, COND, 100);
	returns(2, 1, 110);
	returns(1, 0, 200);
	assert_false(handoffs_expects_return(h));
	assert_latencies(PROGRAM);
}

FIXTURE_TEST(waking_several_is_none)
{
	waits(1, LOCK);
	waits(2, LOCK);
	futex(3, LOCK, FUTEX_WAKE, 0x7fffffff, 100);
	returns(1, 0, 200);
	returns(2, 0, 210);
	returns(3, 2, 220);
	assert_latencies(PROGRAM);
	assert_false(handoffs_expects_return(h));
}

FIXTURE_TEST(who_did_not_sleep_or_gave_up_was_handed_nothing)
{
	waits(1, LOCK);
	returns(1, (uint64_t)-EAGAIN, 90);
	waits(1, LOCK);
	waits(2, LOCK);
	wakes(3, LOCK, 100);
	returns(3, 1, 110);
	returns(1, (uint64_t)-EINTR, 120);
	returns(2, 0, 130);
	assert_latencies(PROGRAM, 30);
}

/* It is told as a second call. */
FIXTURE_TEST(an_interrupted_wait_is_made_again)
{
	waits(1, LOCK);
	waits(1, LOCK);
	wakes(2, LOCK, 100);
	returns(2, 1, 110);
	returns(1, 0, 160);
	assert_latencies(PROGRAM, 60);
	call(PROGRAM, 1, SYS_READ, 0, 0, 0, 170);
	assert_false(handoffs_expects_return(h));
}

FIXTURE_TEST(programs_are_told_apart)
{
	waits(1, LOCK);
	call(OTHER, 1, SYS_FUTEX, LOCK, FUTEX_WAIT, 2, 1);
	call(OTHER, 2, SYS_FUTEX, LOCK, FUTEX_WAKE, 1, 100);
	returns_in(OTHER, 2, 1, 105);
	returns(1, 0, 107);
	returns_in(OTHER, 1, 0, 110);
	assert_latencies(PROGRAM);
	assert_latencies(OTHER, 10);
	call(OTHER, 1, SYS_READ, 0, 0, 0, 120);
	assert_latencies(PROGRAM);
	assert_latencies(OTHER, 10);
}

FIXTURE_TEST(clocks_of_two_cpus_may_differ)
{
	waits(1, LOCK);
	wakes(2, LOCK, 100);
	returns(1, 0, 90);
	assert_latencies(PROGRAM, 0);
}

FIXTURE_TEST(a_region_begins_without_hand_offs_but_with_who_waits)
{
	for (uint64_t thread = 1; thread <= 3; thread++)
		waits(thread, LOCK);
	wakes(4, LOCK, 100);
	returns(4, 1, 105);
	returns(1, 0, 110);
	call(PROGRAM, 1, SYS_READ, 0, 0, 0, 115);
	wakes(4, LOCK, 120);
	returns(4, 1, 125);
	returns(2, 0, 130);
	handoffs_begin(h);
	assert_latencies(PROGRAM);
	call(PROGRAM, 2, SYS_READ, 0, 0, 0, 135);
	assert_latencies(PROGRAM);
	wakes(4, LOCK, 140);
	returns(3, 0, 155);
	assert_latencies(PROGRAM, 15);
}

/* More than fit at first. */
FIXTURE_TEST(many_threads_wait)
{
	struct latencies l = { 0 };

	for (uint64_t thread = 1; thread <= 100; thread++)
		waits(thread, LOCK + 4 * thread);
	for (uint64_t thread = 1; thread <= 100; thread++) {
		wakes(1000, LOCK + 4 * thread, 1000);
		returns(1000, 1, 1001);
	}
	for (uint64_t thread = 100; thread >= 1; thread--)
		returns(thread, 0, 1000 + thread);
	for (uint64_t thread = 1; thread <= 100; thread++)
		call(PROGRAM, thread, SYS_READ, 0, 0, 0, 2000);
	assert_int_equal(handoffs_latencies(h, PROGRAM, &l), 0);
	assert_int_equal(l.n, 100);
	for (size_t i = 0; i < l.n; i++)
		assert_int_equal(l.ns[i], i + 1);
	latencies_free(&l);
}

RUN_TESTS(NULL, NULL)
