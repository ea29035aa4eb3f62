// SPDX-License-Identifier: LGPL-2.1-or-later
/* ivl_switch() preserves callee-saved registers on both sides; unwinding ends at a stack's top. */
#include <unwind.h>

#include "fiber.h"
#include "test_runtimes.h"

#define STACK_BYTES 65536

/* More than any architecture has registers for. The compiler keeps them there, if it can. */
#define WHOLE(do) do(0) do(1) do(2) do(3) do(4) do(5) do(6) do(7) do(8) do(9) do(10) do(11)
#define LOAD(i) const long n##i = numbers[i]; const double x##i = fractions[i];
#define IS_KEPT(i) && n##i == numbers[i] && x##i == fractions[i]

static void *here, *there;
static bool kept_there;

static __attribute__((noinline)) bool keeps(void **from, void **to, long seed)
{
	volatile long numbers[12];
	volatile double fractions[12];

	for (int i = 0; i < 12; i++) {
		numbers[i] = seed + i;
		fractions[i] = (double)seed + i + 0.5;
	}
	WHOLE(LOAD)
	ivl_switch(from, *to, 1);
	return true WHOLE(IS_KEPT);
}

static long be_there(void *arg)
{
	kept_there = keeps(&there, &here, 1000);
	ivl_switch(&there, here, 1);
	return 0;
}

TEST(registers)
{
	char *stack = aligned_alloc(64, STACK_BYTES);

	assert_non_null(stack);
	assert_int_equal(ivl_call_on(stack + STACK_BYTES, be_there, NULL, &here), 1);
	assert_true(keeps(&here, &there, 2000));
	assert_true(kept_there);
	free(stack);
}

static long twice(void *arg)
{
	return 2 * *(long *)arg;
}

TEST(return)
{
	char *stack = aligned_alloc(64, STACK_BYTES);
	long number = 21;

	assert_non_null(stack);
	assert_int_equal(ivl_call_on(stack + STACK_BYTES, twice, &number, &here), 42);
	free(stack);
}

static _Unwind_Reason_Code count(struct _Unwind_Context *context, void *frames)
{
	/* The outermost frame has no address. */
	*(int *)frames += _Unwind_GetIP(context) != 0;
	return _URC_NO_REASON;
}

static long unwind(void *frames)
{
	return _Unwind_Backtrace(count, frames);
}

/* The memory above the stack, such as a fiber, is no frame. */
TEST(end_of_stack)
{
	char *stack = aligned_alloc(64, 2 * STACK_BYTES);
	int frames = 0;

	assert_non_null(stack);
	memset(stack, 0x5a, 2 * STACK_BYTES);
	assert_int_equal(ivl_call_on(stack + STACK_BYTES, unwind, &frames, &here),
			 _URC_END_OF_STACK);
	/* unwind() and this one. */
	assert_int_equal(frames, 2);
	free(stack);
}

TEST_MAIN(NULL, NULL)
