/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests that cannot be made where they are run. */
#ifndef TEST_LEAVE_OUT_H
#define TEST_LEAVE_OUT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_SANITIZED 1
#else
#define TEST_SANITIZED 0
#endif

/*
 * Returns from the test. To meson it has passed, and by that line run-tests counts it as skipped:
 * what cmocka's skip() prints is a failure to meson.
 */
#define test_leave_out(why) do { \
	print_message("# left out: " why "\n"); \
	return; \
} while (0)

#endif /* TEST_LEAVE_OUT_H */
