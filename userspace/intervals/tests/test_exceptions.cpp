// SPDX-License-Identifier: LGPL-2.1-or-later
/* C++ in tasks: a caught exception stays with its task; an uncaught one is its error. */
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "handlers.hpp"

#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: not %s\n", __FILE__, __LINE__, #condition); \
			exit(EXIT_FAILURE); \
		} \
	} while (0)

static std::atomic<int> destroyed;

struct counted {
	~counted() { destroyed++; }
};

static int throws(ivl_interval *, void *)
{
	counted one;

	throw std::runtime_error("lost");
}

static int nothing(ivl_interval *, void *arg)
{
	*(bool *)arg = true;
	return 0;
}

/* The joiner gets the error, and dependents do not run. */
static int joins(ivl_interval *self, void *arg)
{
	ivl_interval *thrower = ivl_create(self, "thrower", throws, NULL, NULL);
	ivl_interval *after = ivl_create(self, "after", nothing, arg, NULL);
	int error;

	CHECK(thrower && after);
	CHECK(!ivl_add_edge(ivl_end_point(thrower), ivl_start_point(after)));
	ivl_schedule();
	error = ivl_join(ivl_end_point(thrower));
	CHECK(ivl_inline("inline", throws, NULL) == ENOTRECOVERABLE);
	CHECK(!std::current_exception() && !std::uncaught_exceptions());
	ivl_release(thrower);
	ivl_release(after);
	return error;
}

static void test_escapes(ivl_runtime *runtime)
{
	bool ran = false;

	destroyed = 0;
	CHECK(ivl_run(runtime, throws, NULL) == ENOTRECOVERABLE);
	CHECK(ivl_run(runtime, joins, &ran) == ENOTRECOVERABLE);
	CHECK(!ran);
	CHECK(destroyed == 3);
}

int main()
{
	for (unsigned int workers : { 1, 2, 8 }) {
		for (int policy = 0; policy < IVL_POLICIES; policy++) {
			ivl_config config;
			ivl_runtime *runtime;

			CHECK(!ivl_config_init(&config));
			config.workers = workers;
			config.policy = (ivl_policy)policy;
			CHECK(!ivl_start(&config, &runtime));
			CHECK(handlers::right(runtime));
			test_escapes(runtime);
			ivl_stop(runtime);
		}
	}
	return 0;
}
