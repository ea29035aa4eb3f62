/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A test program: TEST(name) { ... } for each test, then TEST_MAIN(set_up, tear_down), or a main()
 * that returns test_run_all(). The tests run in the order in which they stand in the file.
 */
#ifndef TEST_H
#define TEST_H

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sanitized.h"

#define TEST_MOST 64

static struct CMUnitTest test_list[TEST_MOST];
static int test_lines[TEST_MOST];
static size_t test_count;

/* Kept in the order of lines: with link-time optimization constructors run backwards. */
static inline void test_add(const char *name, CMUnitTestFunction function, int line)
{
	size_t i = test_count++;

	if (i >= TEST_MOST)
		return;
	for (; i && test_lines[i - 1] > line; i--) {
		test_list[i] = test_list[i - 1];
		test_lines[i] = test_lines[i - 1];
	}
	test_list[i] = (struct CMUnitTest){ .name = name, .test_func = function };
	test_lines[i] = line;
}

#define TEST(name) \
	static void test_##name(void **state); \
	__attribute__((constructor)) static void test_add_##name(void) \
	{ \
		test_add(#name, test_##name, __LINE__); \
	} \
	static void test_##name(void **state)

/* Set up, run all tests, tear down. Returns the exit status: the number of failed tests. */
static inline int test_run_all(CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
	if (test_count > TEST_MOST)
		return EXIT_FAILURE;
	return _cmocka_run_group_tests("tests", test_list, test_count, set_up, tear_down);
}

#define TEST_MAIN(set_up, tear_down) \
	int main(void) \
	{ \
		return test_run_all(set_up, tear_down); \
	}

/*
 * Callbacks with a typed argument: BODY(name, struct x *x) { ... } defines an ivl_body whose
 * argument points to an x, OK_BODY() one that always returns 0, TASK() such an ivl_function, and
 * ASYNC() an ivl_function whose argument is a copy of that pointer.
 */
#define BODY(name, parameter) \
	static int name##_of(ivl_interval *self, parameter); \
	static int name(ivl_interval *self, void *arg) \
	{ \
		return name##_of(self, arg); \
	} \
	static int name##_of(ivl_interval *self, parameter)

#define OK_BODY(name, parameter) \
	static void name##_of(ivl_interval *self, parameter); \
	static int name(ivl_interval *self, void *arg) \
	{ \
		name##_of(self, arg); \
		return 0; \
	} \
	static void name##_of(ivl_interval *self, parameter)

#define TASK(name, parameter) \
	static void name##_of(parameter); \
	static void name(void *arg) \
	{ \
		name##_of(arg); \
	} \
	static void name##_of(parameter)

#define ASYNC(name, parameter) \
	static void name##_of(parameter); \
	static void name(void *arg) \
	{ \
		void *pointer; \
		\
		memcpy(&pointer, arg, sizeof(pointer)); \
		name##_of(pointer); \
	} \
	static void name##_of(parameter)

/* A pthread's function, which returns NULL. */
#define THREAD(name, parameter) \
	static void name##_of(parameter); \
	static void *name(void *arg) \
	{ \
		name##_of(arg); \
		return NULL; \
	} \
	static void name##_of(parameter)

#define test_yield_until(condition) do { \
	while (!(condition)) \
		sched_yield(); \
} while (0)

#define test_sleep_until(condition) do { \
	while (!(condition)) \
		usleep(100); \
} while (0)

/*
 * Return from a test that this machine or build cannot run. Meson takes it for passed, and
 * run-tests counts it as skipped by that line: meson takes what cmocka's skip() prints for a
 * failure.
 */
#define test_leave_out(why) do { \
	print_message("# left out: " why "\n"); \
	return; \
} while (0)

#endif /* TEST_H */
