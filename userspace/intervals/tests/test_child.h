/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests in a child process, which may abort or hang. */
#ifndef TEST_CHILD_H
#define TEST_CHILD_H

#include <signal.h>
#include <sys/wait.h>

#include "test_runtimes.h"

/* The standard error of the last child. */
static char test_stderr[4096];

/* The status of a child that calls test(workers), and is killed after five minutes. */
static inline int test_in_child(int (*test)(unsigned int workers), unsigned int workers)
{
	ssize_t bytes, all = 0;
	int status, pipes[2];
	pid_t child;

	assert_int_equal(pipe(pipes), 0);
	fflush(NULL);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		dup2(pipes[1], STDERR_FILENO);
		close(pipes[0]);
		/* Not cmocka's handler. */
		signal(SIGSEGV, SIG_DFL);
		alarm(300);
		_exit(test(workers));
	}
	close(pipes[1]);
	while ((bytes = read(pipes[0], test_stderr + all,
			     sizeof(test_stderr) - 1 - (size_t)all)) > 0)
		all += bytes;
	test_stderr[all] = '\0';
	close(pipes[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (status)
		fputs(test_stderr, stderr);
	return status;
}

#endif
