// SPDX-License-Identifier: GPL-2.0
/* Which system calls are hand-offs, and whose. */
#include "test_machine.h"

#include <linux/futex.h>

#include "futexes.h"

#define PROGRAM 0x1000ull
#define CHILD 0x2000ull
#define LOCK 0x404040ull

static struct futexes *f;

SET_UP
{
	f = futexes_new(FUTEXES_OWN);
	futexes_begin(f, PROGRAM);
	return 0;
}

TEAR_DOWN
{
	futexes_free(f);
	return 0;
}

static void call(uint64_t space, uint64_t thread, uint64_t address, uint64_t op,
		 uint64_t value)
{
	const uint64_t arguments[] = { address, op, value };

	assert_int_equal(futexes_call(f, space, thread, 202, arguments), 0);
}

static void wake(uint64_t space, uint64_t thread, uint64_t address)
{
	call(space, thread, address, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
}

static void answer(uint64_t space, uint64_t thread, uint64_t result)
{
	assert_int_equal(futexes_return(f, space, thread, result), 0);
}

static const struct futex *only(void)
{
	size_t n;
	const struct futex *all = futexes_all(f, &n);

	assert_int_equal(n, 1);
	return all;
}

FIXTURE_TEST(a_wake_that_woke_one_is_a_handoff)
{
	wake(PROGRAM, 1, LOCK);
	answer(PROGRAM, 1, 1);
	wake(PROGRAM, 1, LOCK);
	answer(PROGRAM, 1, 0);
	call(PROGRAM, 1, LOCK, FUTEX_WAKE_BITSET, 1);
	answer(PROGRAM, 1, 1);
	/* The kernel reads 32 bits of these. */
	call(PROGRAM, 1, LOCK, FUTEX_WAKE | 1ull << 32, 1 | 1ull << 32);
	answer(PROGRAM, 1, 1);
	assert_int_equal(only()->space, PROGRAM);
	assert_int_equal(only()->address, LOCK);
	assert_int_equal(only()->wakes, 4);
	assert_int_equal(only()->handoffs, 3);
	assert_int_equal(only()->pi_unlocks, 0);
}

FIXTURE_TEST(nothing_else_is_one)
{
	const uint64_t arguments[] = { LOCK, FUTEX_WAKE, 1 };
	size_t n;

	call(PROGRAM, 1, LOCK, FUTEX_WAKE, 2);
	answer(PROGRAM, 1, 1);
	call(PROGRAM, 1, LOCK, FUTEX_WAIT, 1);
	answer(PROGRAM, 1, 1);
	assert_int_equal(futexes_call(f, PROGRAM, 1, 1, arguments), 0);
	assert_false(futexes_expects_return(f));
	answer(PROGRAM, 1, 1);
	futexes_all(f, &n);
	assert_int_equal(n, 0);
}

FIXTURE_TEST(locks_with_priority_inheritance_are_told_apart)
{
	call(PROGRAM, 1, LOCK, FUTEX_UNLOCK_PI | FUTEX_PRIVATE_FLAG, 0);
	answer(PROGRAM, 1, 0);
	call(PROGRAM, 1, LOCK, FUTEX_UNLOCK_PI, 0);
	answer(PROGRAM, 1, (uint64_t)-1);
	assert_int_equal(only()->pi_unlocks, 1);
	assert_int_equal(only()->wakes, 0);
	assert_int_equal(only()->handoffs, 0);
}

/* Threads of two spaces, one with the other's thread pointer, return in another order. */
FIXTURE_TEST(a_return_belongs_to_its_thread)
{
	const struct futex *all;
	size_t n;

	wake(CHILD, 1, LOCK);
	wake(PROGRAM, 1, LOCK);
	wake(PROGRAM, 2, LOCK + 4);
	answer(PROGRAM, 3, 1);	/* of a call that is not counted */
	answer(PROGRAM, 1, 1);
	answer(PROGRAM, 2, 0);
	assert_true(futexes_expects_return(f));
	answer(CHILD, 1, 0);
	assert_false(futexes_expects_return(f));
	all = futexes_all(f, &n);
	assert_int_equal(n, 3);
	assert_int_equal(all[0].address, LOCK);
	assert_int_equal(all[0].handoffs, 1);
	assert_int_equal(all[1].address, LOCK + 4);
	assert_int_equal(all[1].handoffs, 0);
	assert_int_equal(all[2].space, CHILD);
	assert_int_equal(all[2].handoffs, 0);
	assert_int_equal(futexes_program_space(f), PROGRAM);
}

FIXTURE_TEST(an_interrupted_call_is_made_again)
{
	wake(PROGRAM, 1, LOCK);
	wake(PROGRAM, 1, LOCK);
	answer(PROGRAM, 1, 1);
	assert_int_equal(only()->wakes, 1);
	assert_false(futexes_expects_return(f));
}

FIXTURE_TEST(many_locks_are_sorted)
{
	const struct futex *all;
	size_t n;

	for (uint64_t i = 0; i < 100; i++) {
		wake(PROGRAM, i + 1, LOCK + (i * 37 % 100) * 4);
		wake(PROGRAM, i + 1001, LOCK);
	}
	for (uint64_t i = 0; i < 100; i++) {
		answer(PROGRAM, i + 1, 1);
		answer(PROGRAM, i + 1001, 1);
	}
	all = futexes_all(f, &n);
	assert_int_equal(n, 100);
	assert_int_equal(all[0].handoffs, 101);
	for (uint64_t i = 1; i < n; i++) {
		assert_int_equal(all[i].address, LOCK + i * 4);
		assert_int_equal(all[i].handoffs, 1);
	}
}

FIXTURE_TEST(the_next_program_is_the_first_without_a_thread_pointer)
{
	size_t n;

	futexes_free(f);
	f = futexes_new(FUTEXES_NEXT);
	futexes_begin(f, PROGRAM);
	assert_int_equal(futexes_program_space(f), 0);
	assert_true(futexes_expects_return(f));
	answer(PROGRAM, 1, 0);
	assert_int_equal(futexes_program_space(f), 0);
	answer(CHILD, 0, 0);
	answer(PROGRAM, 0, 0);
	assert_int_equal(futexes_program_space(f), CHILD);
	assert_false(futexes_expects_return(f));
	wake(CHILD, 1, LOCK);
	answer(CHILD, 1, 1);
	/* A new region knows nothing of the one before. */
	futexes_begin(f, PROGRAM);
	futexes_all(f, &n);
	assert_int_equal(n, 0);
	assert_int_equal(futexes_program_space(f), 0);
}

RUN_TESTS(NULL, NULL)
