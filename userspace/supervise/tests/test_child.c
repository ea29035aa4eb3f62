// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "unit.h"
#include "child.h"

static char *three[] = { "sh", "-c", "exit 3", NULL };

static struct child started(void)
{
	struct child child;

	assert_int_equal(child_start(&child, three), 0);
	assert_int_equal(child_go(&child), 0);
	return child;
}

TEST(how_it_ended)
{
	struct child child = started();

	assert_int_equal(WEXITSTATUS(child_wait(&child)), 3);
}

/* The kernel has thrown its status away: that is not a success. */
TEST(a_status_that_is_lost)
{
	struct child child;

	signal(SIGCHLD, SIG_IGN);
	child = started();
	assert_int_equal(child_wait(&child), -1);
	assert_int_equal(errno, ECHILD);
	signal(SIGCHLD, SIG_DFL);
}

RUN_TESTS(NULL, NULL)
