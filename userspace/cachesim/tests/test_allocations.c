// SPDX-License-Identifier: GPL-2.0
/* From where memory was allocated. */
#include "test_machine.h"

#include "allocations.h"

#define SPACE 0x1000ull
#define THREAD 0x7000ull
#define STACK 0x7fff0000ull

static struct allocations *a;

SET_UP
{
	a = allocations_new();
	return a ? 0 : -1;
}

TEAR_DOWN
{
	allocations_free(a);
	return 0;
}

static int call_from(uint64_t thread, uint64_t sp, enum allocator function,
		     uint64_t from, uint64_t first, uint64_t second, uint64_t third)
{
	const struct allocation_call call = {
		function, SPACE, thread, { first, second, third }, { 0x500, sp, 0, 1, { from } },
	};

	return allocations_call(a, &call);
}

static int return_to(uint64_t thread, uint64_t sp, uint64_t from, uint64_t memory)
{
	const struct allocation_call *over = allocations_over(a, SPACE, thread, from, sp + 8);

	assert_non_null(over);
	return allocations_return(a, over, memory);
}

/* The first thread calls a function from `from`, which returns `memory`. */
static void allocate(enum allocator function, uint64_t from, uint64_t first,
		     uint64_t second, uint64_t third, uint64_t memory)
{
	assert_int_equal(call_from(THREAD, STACK, function, from, first, second, third), 0);
	assert_int_equal(return_to(THREAD, STACK, from, memory), 0);
}

static void release(uint64_t memory)
{
	assert_int_equal(call_from(THREAD, STACK, ALLOCATOR_FREE, 0x1, memory, 0, 0), 0);
}

/* The return address of the allocating call; 0: unknown. */
static uint64_t from(uint64_t address)
{
	const struct allocation_site *site = allocations_at(a, SPACE, address);

	return site ? site->stack[0] : 0;
}

FIXTURE_TEST(each_function_has_its_size)
{
	allocate(ALLOCATOR_MALLOC, 1, 24, 0, 0, 0x10000);
	allocate(ALLOCATOR_CALLOC, 2, 3, 8, 0, 0x10018);
	allocate(ALLOCATOR_REALLOC, 3, 0, 24, 0, 0x10030);
	allocate(ALLOCATOR_ALIGNED_ALLOC, 4, 64, 24, 0, 0x10048);
	allocate(ALLOCATOR_POSIX_MEMALIGN, 5, 0x404040, 64, 24, 0x10060);
	allocate(ALLOCATOR_MALLOC, 6, 0, 0, 0, 0x10078);
	for (uint64_t i = 0; i < 5; i++) {
		assert_int_equal(from(0x10000 + 24 * i), i + 1);
		assert_int_equal(from(0x10017 + 24 * i), i + 1);
	}
	assert_int_equal(from(0x10078), 6);
	assert_int_equal(from(0x10079), 0);
	assert_int_equal(from(0xffff), 0);
	assert_null(allocations_at(a, SPACE + 0x1000, 0x10000));
}

FIXTURE_TEST(what_is_given_back_is_forgotten)
{
	allocate(ALLOCATOR_MALLOC, 1, 32, 0, 0, 0x10000);
	allocate(ALLOCATOR_MALLOC, 2, 32, 0, 0, 0x10020);
	release(0);
	release(0x10000);
	assert_int_equal(from(0x10000), 0);
	assert_int_equal(from(0x10020), 2);
	/* And what has got the memory since is told. */
	allocate(ALLOCATOR_CALLOC, 3, 1, 16, 0, 0x10000);
	assert_int_equal(from(0x10008), 3);
	assert_int_equal(from(0x10010), 0);
	/* That it was given back may have been overseen. */
	allocate(ALLOCATOR_MALLOC, 4, 48, 0, 0, 0x10008);
	assert_int_equal(from(0x10000), 0);
	assert_int_equal(from(0x10008), 4);
	assert_int_equal(from(0x10037), 4);
	assert_int_equal(from(0x10038), 0);
}

FIXTURE_TEST(memory_that_moves_belongs_to_who_moved_it)
{
	allocate(ALLOCATOR_MALLOC, 1, 32, 0, 0, 0x10000);
	assert_int_equal(call_from(THREAD, STACK, ALLOCATOR_REALLOC, 2, 0x10000, 64, 0), 0);
	assert_int_equal(from(0x10000), 0);
	/* Another thread gets the old memory before the call is over. */
	assert_int_equal(call_from(THREAD + 1, STACK, ALLOCATOR_MALLOC, 3, 32, 0, 0), 0);
	assert_int_equal(return_to(THREAD + 1, STACK, 3, 0x10000), 0);
	assert_int_equal(return_to(THREAD, STACK, 2, 0x20000), 0);
	assert_int_equal(from(0x10000), 3);
	assert_int_equal(from(0x2003f), 2);
}

FIXTURE_TEST(a_call_is_over_where_its_thread_is_back)
{
	assert_false(allocations_expects_return(a, 1));
	assert_int_equal(call_from(THREAD, STACK, ALLOCATOR_MALLOC, 1, 32, 0, 0), 0);
	assert_true(allocations_expects_return(a, 1));
	assert_false(allocations_expects_return(a, 2));
	assert_null(allocations_over(a, SPACE, THREAD + 1, 1, STACK + 8));
	assert_null(allocations_over(a, SPACE + 0x1000, THREAD, 1, STACK + 8));
	/* A function that it calls, as the one that called malloc() does. */
	assert_null(allocations_over(a, SPACE, THREAD, 1, STACK - 8));
	assert_null(allocations_over(a, SPACE, THREAD, 2, STACK + 8));
	/* One of these calls another. */
	assert_int_equal(call_from(THREAD, STACK - 32, ALLOCATOR_MALLOC, 2, 40, 0, 0), 0);
	assert_int_equal(return_to(THREAD, STACK - 32, 2, 0x10000), 0);
	assert_int_equal(return_to(THREAD, STACK, 1, 0x10000), 0);
	assert_false(allocations_expects_return(a, 1));
	assert_int_equal(from(0x10000), 1);
	/* There was no memory. */
	allocate(ALLOCATOR_MALLOC, 3, 1ull << 60, 0, 0, 0);
	assert_int_equal(from(0), 0);
}

FIXTURE_TEST(a_call_that_never_returns_is_dropped)
{
	assert_int_equal(call_from(THREAD, STACK, ALLOCATOR_MALLOC, 1, 32, 0, 0), 0);
	assert_int_equal(call_from(THREAD + 1, STACK, ALLOCATOR_MALLOC, 2, 32, 0, 0), 0);
	/* The thread is again where it was, or further out. */
	assert_int_equal(call_from(THREAD, STACK, ALLOCATOR_MALLOC, 3, 32, 0, 0), 0);
	assert_false(allocations_expects_return(a, 1));
	assert_true(allocations_expects_return(a, 2));
	release(0x10000);
	assert_false(allocations_expects_return(a, 3));
	assert_true(allocations_expects_return(a, 2));
}

FIXTURE_TEST(a_program_that_begins_has_nothing)
{
	const struct allocation_call other = {
		ALLOCATOR_MALLOC, SPACE + 0x1000, THREAD, { 32 }, { 0x500, STACK, 0, 1, { 9 } },
	};

	assert_int_equal(allocations_call(a, &other), 0);
	assert_int_equal(allocations_return(a, allocations_over(a, SPACE + 0x1000, THREAD, 9,
								STACK + 8), 0x10000), 0);
	for (uint64_t i = 1; i <= 1000; i++)
		allocate(ALLOCATOR_MALLOC, i, 16, 0, 0, 16 * i);
	for (uint64_t i = 1; i <= 1000; i++)
		assert_int_equal(from(16 * i + 5), i);
	assert_int_equal(call_from(THREAD, STACK, ALLOCATOR_MALLOC, 1, 32, 0, 0), 0);
	allocations_forget(a, SPACE);
	assert_false(allocations_expects_return(a, 1));
	for (uint64_t i = 1; i <= 1000; i++)
		assert_int_equal(from(16 * i), 0);
	assert_non_null(allocations_at(a, SPACE + 0x1000, 0x10000));
}

RUN_TESTS(NULL, NULL)
