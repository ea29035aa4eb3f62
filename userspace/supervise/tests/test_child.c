// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "child.h"

static char *three[] = { "sh", "-c", "exit 3", NULL };

static struct child started(void)
{
	struct child child;

	assert_int_equal(child_start(&child, three), 0);
	assert_int_equal(child_go(&child), 0);
	return child;
}

static void how_it_ended(void **state)
{
	struct child child = started();

	(void)state;
	assert_int_equal(WEXITSTATUS(child_wait(&child)), 3);
}

/* The kernel has thrown its status away: that is not a success. */
static void a_status_that_is_lost(void **state)
{
	struct child child;

	(void)state;
	signal(SIGCHLD, SIG_IGN);
	child = started();
	assert_int_equal(child_wait(&child), -1);
	assert_int_equal(errno, ECHILD);
	signal(SIGCHLD, SIG_DFL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(how_it_ended),
		cmocka_unit_test(a_status_that_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
