/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cmocka, with tests that are named once:
 *
 *	TEST(lists_are_sorted) { ... }
 *	SET_UP_TEST(lists_grow) { ... }		after SET_UP { ... }
 *	FIXTURE_TEST(lists_shrink) { ... }	between that and TEAR_DOWN { ... }
 *	RUN_TESTS(NULL, NULL)			main(); or with functions before and after all
 *
 * Tests run in the order in which they stand in their file.
 */
#ifndef TESTING_UNIT_H
#define TESTING_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* cmocka leaves out what has no name. */
static struct CMUnitTest unit_tests[64];

static inline void unit_add(struct CMUnitTest test)
{
	static size_t n;

	if (n == COUNT_OF(unit_tests))
		abort();
	unit_tests[n++] = test;
}

#define UNIT_STATE __attribute__((unused)) void **state

/* Constructors run by priority; without one, link-time optimization reverses their order. */
#define UNIT_PRIORITY (1000 + __LINE__)

#define UNIT_TEST(function, ...)						\
	static void function(void **state);					\
	__attribute__((constructor(UNIT_PRIORITY)))				\
	static void add_##function(void)					\
	{									\
		unit_add((struct CMUnitTest){ #function, function, __VA_ARGS__ });	\
	}									\
	static void function(UNIT_STATE)

#define TEST(function) UNIT_TEST(function, NULL, NULL, NULL)
#define SET_UP_TEST(function) UNIT_TEST(function, set_up, NULL, NULL)
#define FIXTURE_TEST(function) UNIT_TEST(function, set_up, tear_down, NULL)

/* Both return 0, or -1 if they fail. */
#define SET_UP static int set_up(UNIT_STATE)
#define TEAR_DOWN static int tear_down(UNIT_STATE)

#define RUN_TESTS(before, after)						\
	int main(void)								\
	{									\
		return cmocka_run_group_tests(unit_tests, before, after);	\
	}

#endif
