// SPDX-License-Identifier: LGPL-2.1-or-later
/* Tasks that damage their process, and programs that fork and unload. */
#include "test_child.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include "fiber.h"
#include "intervals_sync.h"

static int run(ivl_body *body, unsigned int workers)
{
	TEST_WORKERS(runtime, workers);

	return ivl_run(runtime, body, NULL);
}

/* The caller has been a worker of a runtime that is over, too. */
static int run_here_again(ivl_body *body, unsigned int workers)
{
	run(test_nothing, workers);
	TEST_WORKERS(runtime, workers);

	return ivl_run_here(runtime, test_nothing, NULL) || ivl_run_here(runtime, body, NULL);
}

/* Stacks. */

static int deep(int levels);
/* The compiler must not turn it into a loop. */
static int (*volatile deeper)(int levels) = deep;

static int deep(int levels)
{
	volatile char frame[1000];

	frame[levels % 1000] = (char)levels;
	return levels ? deeper(levels - 1) + frame[levels % 1000] : 0;
}

static int use_megabytes(ivl_interval *self, void *arg)
{
	return deep(3000) == -1;
}

TEST(overflow)
{
	if (TEST_SANITIZED)
		test_leave_out("the sanitizers say it themselves");
	test_on_counts(workers) {
		assert_killed(SIGSEGV, run(use_megabytes, workers));
		assert_non_null(strstr(test_stderr, "INTERVALS_STACK"));
		assert_killed(SIGSEGV, run_here_again(use_megabytes, workers));
		assert_non_null(strstr(test_stderr, "INTERVALS_STACK"));
		setenv("INTERVALS_STACK", "8192", 1);
		assert_int_equal(test_in_child(run(use_megabytes, workers)), 0);
		unsetenv("INTERVALS_STACK");
	}
}

static stack_t signal_stack(void)
{
	stack_t now;

	sigaltstack(NULL, &now);
	return now;
}

struct visit {
	ivl_runtime *runtime;
	bool kept, own_kept;
};

THREAD(visit, struct visit *visit)
{
	const stack_t before = signal_stack();
	const stack_t none = { .ss_flags = SS_DISABLE };
	stack_t own = { .ss_sp = malloc(64 << 10), .ss_size = 64 << 10 };

	ivl_run_here(visit->runtime, test_nothing, NULL);
	visit->kept = before.ss_flags & SS_DISABLE && !(signal_stack().ss_flags & SS_DISABLE);
	/* The program's own stays. */
	sigaltstack(&own, NULL);
	ivl_run_here(visit->runtime, test_nothing, NULL);
	visit->own_kept = signal_stack().ss_sp == own.ss_sp;
	sigaltstack(&none, NULL);
	free(own.ss_sp);
}

/* A thread keeps the signal stack of its first visit, and gives it back when it ends. */
TEST(signal_stacks)
{
	if (TEST_SANITIZED)
		test_leave_out("each thread of a sanitizer has one");
	TEST_WORKERS(runtime, 1);
	struct visit visited = { runtime, false, false };
	pthread_t thread;

	pthread_create(&thread, NULL, visit, &visited);
	pthread_join(thread, NULL);
	assert_true(visited.kept);
	assert_true(visited.own_kept);
}

#define RUNTIMES 64

/* No two of them share the ends of stacks, although the middle moves by a page for each. */
TEST(holes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct ivl_stacks *stacks[RUNTIMES];
	struct ivl_fiber *fibers[RUNTIMES];
	void *mapped[2 * RUNTIMES];
	int pipes[2];

	assert_int_equal(pipe(pipes), 0);
	for (int i = 0; i < 2 * RUNTIMES; i++) {
		mapped[i] = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (i % 2)
			continue;
		stacks[i / 2] = ivl_stacks_create(32 << 10, 1);
		fibers[i / 2] = ivl_stacks_get(stacks[i / 2], 1);
	}
	for (int i = 0; i < RUNTIMES; i++) {
		assert_int_equal(write(pipes[1], fibers[i]->lowest - 1, 1), -1);
		assert_int_equal(errno, EFAULT);
	}
	for (int i = 0; i < RUNTIMES; i++) {
		ivl_stacks_put(stacks[i], fibers[i]);
		ivl_stacks_destroy(stacks[i]);
	}
	for (int i = 0; i < 2 * RUNTIMES; i++)
		munmap(mapped[i], page);
	close(pipes[0]);
	close(pipes[1]);
}

static int other_fault(ivl_interval *self, void *arg)
{
	return *(volatile int *)((char *)arg + 8);
}

static int sent_fault(ivl_interval *self, void *arg)
{
	return raise(SIGSEGV);
}

/* qemu-user reports signals itself, and may not survive a fork() with threads. */
static bool emulated(void)
{
	return getenv("MESON_EXE_WRAPPER");
}

TEST(other_fault)
{
	if (TEST_SANITIZED)
		test_leave_out("the sanitizers say it themselves");
	if (emulated())
		test_leave_out("not under qemu-user");
	test_on_counts(workers) {
		assert_killed(SIGSEGV, run(other_fault, workers));
		assert_string_equal(test_stderr, "");
		assert_killed(SIGSEGV, run(sent_fault, workers));
	}
}

/* fork(). */

/* The parent's runtime in the child. */
static int look_after_fork(ivl_runtime *runtime)
{
	alarm(60);
	if (ivl_run(runtime, test_nothing, NULL) != ESRCH || !strstr(ivl_last_error(), "parent"))
		return EXIT_FAILURE;
	ivl_stop(runtime);
	/* The sanitizers allow no threads after fork(): a lock of theirs may be held for ever. */
	return !TEST_SLOW && run(test_nothing, 2) ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Does the child not end with this? */
static int ends_not_with(pid_t child, int wanted)
{
	int status;

	return waitpid(child, &status, 0) != child || status != wanted << 8;
}

static int fork_beside(unsigned int workers)
{
	TEST_WORKERS(runtime, workers);
	pid_t child = fork();

	if (!child)
		_exit(look_after_fork(runtime));
	if (ends_not_with(child, EXIT_SUCCESS))
		return EXIT_FAILURE;
	return ivl_run(runtime, test_nothing, NULL);
}

static int fork_and_exit(ivl_interval *self, void *arg)
{
	pid_t child = fork();

	if (!child)
		_exit(7);
	return ends_not_with(child, 7);
}

static int fork_and_return(ivl_interval *self, void *arg)
{
	pid_t child = fork();

	return child && ends_not_with(child, EXIT_FAILURE);
}

static int fork_and_wait(ivl_interval *self, void *arg)
{
	ivl_numa_barrier *barrier;
	pid_t child;

	if (ivl_numa_barrier_init(&barrier, 2))
		return EXIT_FAILURE;
	child = fork();
	if (!child)
		ivl_numa_barrier_wait(barrier);
	ivl_numa_barrier_destroy(barrier);
	return ends_not_with(child, EXIT_FAILURE);
}

static pid_t parent;

/* In the child of the fork() it must not run. */
OK_BODY(be_first, void *arg)
{
	if (getpid() != parent)
		_exit(EXIT_SUCCESS);
}

/* With work of high priority, which is the parent's. */
static int fork_beside_high(ivl_interval *self, void *arg)
{
	ivl_interval *first = ivl_create(self, NULL, be_first, NULL, NULL);

	parent = getpid();
	if (!first || ivl_set_priority(first, IVL_PRIORITY_HIGH))
		return EXIT_FAILURE;
	ivl_release(first);
	ivl_schedule();
	/* In the child TSan does not see how the stacks are ordered that its thread switches to. */
	return fork_and_return(self, arg) || (!TEST_SLOW && fork_and_wait(self, arg));
}

TEST(fork)
{
	if (emulated())
		test_leave_out("not under qemu-user");
	test_on_counts(workers) {
		assert_int_equal(test_in_child(fork_beside(workers)), 0);
		assert_int_equal(test_in_child(run(fork_and_exit, workers)), 0);
		assert_int_equal(test_in_child(run(fork_and_return, workers)), 0);
		/* Often: what the other worker does at the fork() is chance. */
		for (int i = 0; i < 20; i++) {
			assert_int_equal(test_in_child(run(fork_beside_high, workers)), 0);
			assert_non_null(strstr(test_stderr, "after fork(), a task in the child"));
		}
	}
}

/* The end of a worker's thread. */

static int exit_thread(ivl_interval *self, void *arg)
{
	pthread_exit(NULL);
}

TEST(pthread_exit)
{
#ifdef __SANITIZE_THREAD__
	return;			/* its pthread_exit() ends the process by itself on a fiber */
#endif
	test_on_counts(workers) {
		assert_killed(SIGABRT, run(exit_thread, workers));
		assert_non_null(strstr(test_stderr, "pthread_exit()"));
	}
}

/* A plug-in that is linked with the library. */

static int load_and_unload(unsigned int workers)
{
	struct sigaction action;

	for (int i = 0; i < 20; i++) {
		void *plugin = dlopen(getenv("TEST_PLUGIN"), RTLD_NOW | RTLD_LOCAL);
		int (*use)(unsigned int workers);

		if (!plugin) {
			fprintf(stderr, "%s\n", dlerror());
			return EXIT_FAILURE;
		}
		*(void **)&use = dlsym(plugin, "use_intervals");
		if (!use || use(workers) || dlclose(plugin))
			return EXIT_FAILURE;
	}
	/* No handler is left that would call the unloaded code. */
	if (sigaction(SIGSEGV, NULL, &action) || (!TEST_SLOW && action.sa_handler != SIG_DFL))
		return EXIT_FAILURE;
	return fork() ? EXIT_SUCCESS : (_exit(0), 0);
}

TEST(dlclose)
{
	test_on_counts(workers)
		assert_int_equal(test_in_child(load_and_unload(workers)), 0);
}

TEST_MAIN(NULL, NULL)
