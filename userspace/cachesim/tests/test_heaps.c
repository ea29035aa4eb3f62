// SPDX-License-Identifier: GPL-2.0
/* Where heaps begin. */
#include "test_machine.h"

#include "heaps.h"

#define SYS_BRK 12

TEST(a_program_asks_where_its_heap_begins)
{
	struct heaps *h = heaps_new();

	assert_non_null(h);
	assert_int_equal(heaps_begin_of(h, 0x1000), 0);
	assert_true(heaps_is_asked(SYS_BRK, 0));
	assert_false(heaps_is_asked(SYS_BRK, 0x80000));
	assert_false(heaps_is_asked(1, 0));
	assert_int_equal(heaps_call(h, 0x1000, SYS_BRK, 0), 0);
	assert_int_equal(heaps_call(h, 0x2000, SYS_BRK, 0), 0);
	assert_true(heaps_expects_return(h));
	heaps_return(h, 0x3000, 0x70000);
	heaps_return(h, 0x2000, 0x90000);
	heaps_return(h, 0x1000, 0x80000);
	assert_false(heaps_expects_return(h));
	/* That it grows, and other calls, say nothing. */
	assert_int_equal(heaps_call(h, 0x1000, SYS_BRK, 0xa0000), 0);
	assert_int_equal(heaps_call(h, 0x1000, 1, 0), 0);
	assert_false(heaps_expects_return(h));
	heaps_return(h, 0x1000, 0xa0000);
	assert_int_equal(heaps_begin_of(h, 0x1000), 0x80000);
	assert_int_equal(heaps_begin_of(h, 0x2000), 0x90000);
	/* Another program has got the page table. */
	assert_int_equal(heaps_call(h, 0x1000, SYS_BRK, 0), 0);
	heaps_return(h, 0x1000, 0xb0000);
	assert_int_equal(heaps_begin_of(h, 0x1000), 0xb0000);
	heaps_free(h);
}

TEST(many_programs_have_heaps)
{
	struct heaps *h = heaps_new();

	assert_non_null(h);
	for (uint64_t i = 1; i <= 100; i++)
		assert_int_equal(heaps_call(h, i << 12, SYS_BRK, 0), 0);
	for (uint64_t i = 1; i <= 100; i++)
		heaps_return(h, i << 12, i);
	for (uint64_t i = 1; i <= 100; i++)
		assert_int_equal(heaps_begin_of(h, i << 12), i);
	heaps_free(h);
}

RUN_TESTS(NULL, NULL)
