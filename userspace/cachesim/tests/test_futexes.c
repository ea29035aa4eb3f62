// SPDX-License-Identifier: GPL-2.0
/* Which system calls are hand-offs, and whose. */
#include "test_machine.h"

#include <linux/futex.h>

#include "futexes.h"

#define PROGRAM 0x1000ull
#define CHILD 0x2000ull
#define LOCK 0x404040ull

static void call(struct futexes *f, uint64_t space, uint64_t thread, uint64_t address, uint64_t op,
		 uint64_t value)
{
	const uint64_t arguments[] = { address, op, value };

	assert_int_equal(futexes_call(f, space, thread, 202, arguments), 0);
}

static void wake(struct futexes *f, uint64_t space, uint64_t thread, uint64_t address)
{
	call(f, space, thread, address, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
}

static void answer(struct futexes *f, uint64_t space, uint64_t thread, uint64_t result)
{
	assert_int_equal(futexes_return(f, space, thread, result), 0);
}

static struct futexes *counting(void)
{
	struct futexes *f = futexes_new(FUTEXES_OWN);

	assert_non_null(f);
	futexes_begin(f, PROGRAM);
	return f;
}

static const struct futex *only(const struct futexes *f)
{
	size_t n;
	const struct futex *all = futexes_all(f, &n);

	assert_int_equal(n, 1);
	return all;
}

TEST(a_wake_that_woke_one_is_a_handoff)
{
	struct futexes *f = counting();

	wake(f, PROGRAM, 1, LOCK);
	answer(f, PROGRAM, 1, 1);
	wake(f, PROGRAM, 1, LOCK);
	answer(f, PROGRAM, 1, 0);
	call(f, PROGRAM, 1, LOCK, FUTEX_WAKE_BITSET, 1);
	answer(f, PROGRAM, 1, 1);
	/* The kernel reads 32 bits of these. */
	call(f, PROGRAM, 1, LOCK, FUTEX_WAKE | 1ull << 32, 1 | 1ull << 32);
	answer(f, PROGRAM, 1, 1);
	assert_int_equal(only(f)->space, PROGRAM);
	assert_int_equal(only(f)->address, LOCK);
	assert_int_equal(only(f)->wakes, 4);
	assert_int_equal(only(f)->handoffs, 3);
	assert_int_equal(only(f)->pi_unlocks, 0);
	futexes_free(f);
}

TEST(nothing_else_is_one)
{
	struct futexes *f = counting();
	const uint64_t arguments[] = { LOCK, FUTEX_WAKE, 1 };
	size_t n;

	call(f, PROGRAM, 1, LOCK, FUTEX_WAKE, 2);
	answer(f, PROGRAM, 1, 1);
	call(f, PROGRAM, 1, LOCK, FUTEX_WAIT, 1);
	answer(f, PROGRAM, 1, 1);
	assert_int_equal(futexes_call(f, PROGRAM, 1, 1, arguments), 0);
	assert_false(futexes_expects_return(f));
	answer(f, PROGRAM, 1, 1);
	futexes_all(f, &n);
	assert_int_equal(n, 0);
	futexes_free(f);
}

TEST(locks_with_priority_inheritance_are_told_apart)
{
	struct futexes *f = counting();

	call(f, PROGRAM, 1, LOCK, FUTEX_UNLOCK_PI | FUTEX_PRIVATE_FLAG, 0);
	answer(f, PROGRAM, 1, 0);
	call(f, PROGRAM, 1, LOCK, FUTEX_UNLOCK_PI, 0);
	answer(f, PROGRAM, 1, (uint64_t)-1);
	assert_int_equal(only(f)->pi_unlocks, 1);
	assert_int_equal(only(f)->wakes, 0);
	assert_int_equal(only(f)->handoffs, 0);
	futexes_free(f);
}

/* Threads of two spaces, one with the other's thread pointer, return in another order. */
TEST(a_return_belongs_to_its_thread)
{
	struct futexes *f = counting();
	const struct futex *all;
	size_t n;

	wake(f, CHILD, 1, LOCK);
	wake(f, PROGRAM, 1, LOCK);
	wake(f, PROGRAM, 2, LOCK + 4);
	answer(f, PROGRAM, 3, 1);	/* of a call that is not counted */
	answer(f, PROGRAM, 1, 1);
	answer(f, PROGRAM, 2, 0);
	assert_true(futexes_expects_return(f));
	answer(f, CHILD, 1, 0);
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
	futexes_free(f);
}

TEST(an_interrupted_call_is_made_again)
{
	struct futexes *f = counting();

	wake(f, PROGRAM, 1, LOCK);
	wake(f, PROGRAM, 1, LOCK);
	answer(f, PROGRAM, 1, 1);
	assert_int_equal(only(f)->wakes, 1);
	assert_false(futexes_expects_return(f));
	futexes_free(f);
}

TEST(many_locks_are_sorted)
{
	struct futexes *f = counting();
	const struct futex *all;
	size_t n;

	for (uint64_t i = 0; i < 100; i++) {
		wake(f, PROGRAM, i + 1, LOCK + (i * 37 % 100) * 4);
		wake(f, PROGRAM, i + 1001, LOCK);
	}
	for (uint64_t i = 0; i < 100; i++) {
		answer(f, PROGRAM, i + 1, 1);
		answer(f, PROGRAM, i + 1001, 1);
	}
	all = futexes_all(f, &n);
	assert_int_equal(n, 100);
	assert_int_equal(all[0].handoffs, 101);
	for (uint64_t i = 1; i < n; i++) {
		assert_int_equal(all[i].address, LOCK + i * 4);
		assert_int_equal(all[i].handoffs, 1);
	}
	futexes_free(f);
}

TEST(the_next_program_is_the_first_without_a_thread_pointer)
{
	struct futexes *f = futexes_new(FUTEXES_NEXT);
	size_t n;

	assert_non_null(f);
	futexes_begin(f, PROGRAM);
	assert_int_equal(futexes_program_space(f), 0);
	assert_true(futexes_expects_return(f));
	answer(f, PROGRAM, 1, 0);
	assert_int_equal(futexes_program_space(f), 0);
	answer(f, CHILD, 0, 0);
	answer(f, PROGRAM, 0, 0);
	assert_int_equal(futexes_program_space(f), CHILD);
	assert_false(futexes_expects_return(f));
	wake(f, CHILD, 1, LOCK);
	answer(f, CHILD, 1, 1);
	/* A new region knows nothing of the one before. */
	futexes_begin(f, PROGRAM);
	futexes_all(f, &n);
	assert_int_equal(n, 0);
	assert_int_equal(futexes_program_space(f), 0);
	futexes_free(f);
}

RUN_TESTS(NULL, NULL)
