/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The standard error of a process that may never end. */
#ifndef TEST_SAID_H
#define TEST_SAID_H

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "test_runtimes.h"

#define TEST_SAID_BYTES 16384

struct test_process {
	pid_t pid;
	int said;
};

/* A process that runs program(runtime), and ends with status 0. */
static inline struct test_process test_begin(const struct ivl_config *config,
					     void (*program)(ivl_runtime *runtime))
{
	int ends[2];
	struct test_process process;

	assert_int_equal(pipe(ends), 0);
	fflush(stdout);
	process.pid = fork();
	assert_true(process.pid >= 0);
	if (!process.pid) {
		ivl_runtime *runtime;

		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		close(ends[1]);
		if (ivl_start(config, &runtime))
			_exit(1);
		program(runtime);
		ivl_stop(runtime);
		_exit(0);
	}
	close(ends[1]);
	process.said = ends[0];
	return process;
}

/* Its output until it ends or has printed `lines` lines; waits for 20 s at most. */
static inline void test_listen(struct test_process *process, char said[TEST_SAID_BYTES], int lines)
{
	struct pollfd end = { .fd = process->said, .events = POLLIN };
	size_t used = 0;
	ssize_t got;

	while (lines > 0 && poll(&end, 1, 20000) > 0 && used + 1 < TEST_SAID_BYTES &&
	       (got = read(process->said, said + used, TEST_SAID_BYTES - used - 1)) > 0) {
		for (ssize_t i = 0; i < got; i++)
			lines -= said[used + (size_t)i] == '\n';
		used += (size_t)got;
	}
	said[used] = '\0';
}

/* Its status, as of waitpid(). `kills`: kill it first. */
static inline int test_end(struct test_process *process, bool kills)
{
	int status;

	if (kills)
		kill(process->pid, SIGKILL);
	close(process->said);
	waitpid(process->pid, &status, 0);
	return status;
}

/* The output contains each of the words. */
static inline void test_says(const char *said, const char *const *words, int count)
{
	for (int i = 0; i < count; i++)
		if (!strstr(said, words[i]))
			fail_msg("not said: %s; but:\n%s", words[i], said);
}

/* A process that ends with status 0, and prints each of the words. */
static inline void test_ends_saying(const struct ivl_config *config,
				    void (*program)(ivl_runtime *runtime),
				    const char *const *words, int count)
{
	struct test_process process = test_begin(config, program);
	char said[TEST_SAID_BYTES];

	test_listen(&process, said, 100);
	assert_int_equal(test_end(&process, false), 0);
	test_says(said, words, count);
}

/* A process that ends with status 0, and prints nothing. */
static inline void test_ends_silently(const struct ivl_config *config,
				      void (*program)(ivl_runtime *runtime))
{
	struct test_process process = test_begin(config, program);
	char said[TEST_SAID_BYTES];

	test_listen(&process, said, 1);
	assert_string_equal(said, "");
	assert_int_equal(test_end(&process, false), 0);
}

#endif
