/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TEST_CHECK_HPP
#define TEST_CHECK_HPP

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <intervals.hpp>

#include "../sanitized.h"

#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			std::fprintf(stderr, "%s:%d: not %s\n", __FILE__, __LINE__, #condition); \
			std::exit(EXIT_FAILURE); \
		} \
	} while (0)

/* The statement throws a T, as `caught`, for which the condition holds. */
#define CHECK_CAUGHT(T, condition, statement) \
	do { \
		bool thrown = false; \
		\
		try { \
			statement; \
		} catch (const T &caught) { \
			thrown = condition; \
		} \
		CHECK(thrown && #statement); \
	} while (0)

/* The statement throws a T with this value; or an ivl::error of this number, with these words. */
#define CHECK_THROWS(T, value, ...) CHECK_CAUGHT(T, caught == (value), __VA_ARGS__)
#define CHECK_ERROR(number, words, ...) \
	CHECK_CAUGHT(ivl::error, caught.code().value() == (number) && \
		     std::strstr(caught.what(), words), __VA_ARGS__)

inline long fib(int n)
{
	if (n < 2)
		return n;
	long x, y;
	ivl::scope scope;
	ivl::child left(scope, [&] { x = fib(n - 1); });

	y = fib(n - 2);
	scope.sync();
	return x + y;
}

/* On 1, 2 and 8 workers, of each policy. */
template <typename Test>
void on_all(Test test)
{
	for (unsigned int workers : { 1u, 2u, 8u }) {
		for (ivl_policy policy : { IVL_ADAPTIVE, IVL_WORK_FIRST, IVL_HELP_FIRST }) {
			ivl::config config;

			config.workers = workers;
			config.policy = policy;
			test(ivl::runtime(config));
		}
	}
}

#endif
