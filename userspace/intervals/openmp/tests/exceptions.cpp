// SPDX-License-Identifier: LGPL-2.1-or-later
/* A task keeps its exceptions: those it handles, and those that leave a scope, survive a wait. */
#include "check.h"

#include <exception>
#include <unistd.h>

static void wait_for_a_task()
{
#pragma omp taskgroup
	{
#pragma omp task
		usleep(1000);
	}
}

struct waits {
	~waits()
	{
		CHECK(std::uncaught_exceptions() == 1);
		wait_for_a_task();
		CHECK(std::uncaught_exceptions() == 1);
	}
};

/* The task handles its own exception meanwhile. */
static void wait_for_a_handler()
{
#pragma omp taskgroup
	{
#pragma omp task
		{
			try {
				throw 8;
			} catch (int number) {
				wait_for_a_task();
				CHECK(number == 8);
			}
		}
	}
}

static void handle()
{
	int again = 0;

	try {
		throw 7;
	} catch (int) {
		wait_for_a_task();
		wait_for_a_handler();
		CHECK(std::current_exception());
		try {
			throw;
		} catch (int number) {
			again = number;
		}
	}
	CHECK(again == 7);
	try {
		waits one;

		throw 9;
	} catch (int number) {
		CHECK(number == 9);
	}
	CHECK(std::uncaught_exceptions() == 0);
	CHECK(!std::current_exception());
}

int main()
{
	/* The implicit tasks, and explicit ones. */
#pragma omp parallel
	handle();
#pragma omp parallel
#pragma omp single
	for (int i = 0; i < 20; i++)
#pragma omp task
		handle();
	return 0;
}
