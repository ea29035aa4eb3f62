/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests in processes of their own, which may print, abort or hang. */
#ifndef TEST_CHILD_H
#define TEST_CHILD_H

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "test_runtimes.h"

#define TEST_SAID_BYTES 16384

struct test_process {
	pid_t pid;
	int said;			/* its standard error */
};

/* In the child, which is killed after five minutes, pid is 0. */
static inline struct test_process test_new_process(void)
{
	int ends[2];
	struct test_process process;

	assert_int_equal(pipe(ends), 0);
	fflush(NULL);
	process.pid = fork();
	assert_true(process.pid >= 0);
	if (!process.pid) {
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		/* A failed assertion or a fault ends it. */
		setenv("CMOCKA_TEST_ABORT", "1", 1);
		signal(SIGSEGV, SIG_DFL);
		alarm(300);
	}
	close(ends[1]);
	process.said = ends[0];
	return process;
}

/* A process with a `runtime` for these statements, after which it ends with status 0. */
#define test_begin(config, ...) ({ \
	struct test_process process_ = test_new_process(); \
	if (!process_.pid) { \
		ivl_runtime *runtime = test_start(config); \
		__VA_ARGS__; \
		ivl_stop(runtime); \
		_exit(0); \
	} \
	process_; \
})

/*
 * Its output until it ends or has printed `lines` lines, for which this waits for 20 s at most; or
 * with 0 until it ends.
 */
static inline void test_listen(struct test_process *process, char said[TEST_SAID_BYTES], int lines)
{
	struct pollfd end = { .fd = process->said, .events = POLLIN };
	const int timeout = lines ? 20000 : -1;
	size_t used = 0;
	ssize_t got;

	while ((lines > 0 || timeout < 0) && poll(&end, 1, timeout) > 0 &&
	       used + 1 < TEST_SAID_BYTES &&
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
	assert_int_equal(waitpid(process->pid, &status, 0), process->pid);
	return status;
}

/* The standard error of the last test_in_child(). */
static char test_stderr[TEST_SAID_BYTES];

static inline int test_outcome(struct test_process process)
{
	int status;

	test_listen(&process, test_stderr, 0);
	status = test_end(&process, false);
	if (status)
		fputs(test_stderr, stderr);
	return status;
}

/* The status, as of waitpid(), of a process that ends with the value of this expression. */
#define test_in_child(expression) ({ \
	struct test_process process_ = test_new_process(); \
	if (!process_.pid) \
		_exit(expression); \
	test_outcome(process_); \
})

/* A signal kills the process that finds this expression's value. */
#define assert_killed(killer, expression) do { \
	const int status_ = test_in_child(expression); \
	assert_true(WIFSIGNALED(status_)); \
	assert_int_equal(WTERMSIG(status_), killer); \
} while (0)

/* The output contains each of the words. */
static inline void test_says(const char *said, const char *const *words, int count)
{
	for (int i = 0; i < count; i++)
		if (!strstr(said, words[i]))
			fail_msg("not said: %s; but:\n%s", words[i], said);
}

/* It ends with status 0, and prints each of the words. */
static inline void test_ends_saying(struct test_process process, const char *const *words,
				    int count)
{
	char said[TEST_SAID_BYTES];

	test_listen(&process, said, 100);
	assert_int_equal(test_end(&process, false), 0);
	test_says(said, words, count);
}

/* It ends with status 0, and prints nothing. */
static inline void test_ends_silently(struct test_process process)
{
	char said[TEST_SAID_BYTES];

	test_listen(&process, said, 1);
	assert_string_equal(said, "");
	assert_int_equal(test_end(&process, false), 0);
}

#endif
