/* SPDX-License-Identifier: GPL-2.0 */
/* A check that a test goes on after: main() ends with whether there were failures. */
#ifndef GUEST_TESTS_CHECK_H
#define GUEST_TESTS_CHECK_H

#include <stdio.h>

static int failures;

#define CHECK(condition)								\
	do {										\
		if (!(condition)) {							\
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);	\
			failures++;							\
		}									\
	} while (0)

#endif
