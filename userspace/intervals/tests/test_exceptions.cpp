// SPDX-License-Identifier: LGPL-2.1-or-later
/* C++ in tasks: a caught exception stays with its task; an uncaught one is its error. */
#include <cerrno>
#include <stdexcept>

#include "cpp/check.hpp"
#include "handlers.hpp"

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
	on_all([](const ivl::runtime &runtime) {
		CHECK(handlers::right(runtime.get()));
		test_escapes(runtime.get());
	});
	return 0;
}
