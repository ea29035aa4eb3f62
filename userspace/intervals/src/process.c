// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a task may do to its process:
 *
 * Overflow its stack: a SIGSEGV handler, if the program has none, reports it on a stack of its own,
 * and the process dies of the signal.
 *
 * Call fork(): the child has only the calling thread, and queues whose work is the parent's. The
 * worker exits the child as soon as the task returns or waits.
 *
 * Call pthread_exit(), or be cancelled: the process aborts, since its tasks would wait for ever.
 */
#include "process.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "machine.h"
#include "outside.h"

#include "watch/watch.h"
#include "worker.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int runtimes;
/* Of a thread that is or was a worker's: its signal stack, or NO_STACK. */
static pthread_key_t thread_key;
#define NO_STACK ((void *)&thread_key)
static bool has_key;
static bool handles;			/* SIGSEGV is ours */

_Atomic(pid_t) *ivl_process_page;

pid_t ivl_process_ask(void)
{
	const pid_t id = getpid();

	if (ivl_process_page)
		atomic_store_explicit(ivl_process_page, id, memory_order_relaxed);
	return id;
}

/* Without it, each question is a system call. */
static void map_page(void)
{
	const size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return;
	if (madvise(page, bytes, MADV_WIPEONFORK))
		munmap(page, bytes);
	else
		ivl_process_page = page;
}

/* Async-signal-safe. */
static void say(const char *words)
{
	ssize_t ignored = write(STDERR_FILENO, words, strlen(words));

	(void)ignored;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	const struct sigaction standard = { .sa_handler = SIG_DFL };
	struct ivl_worker *worker = ivl_worker_self;
	const char *address = info->si_addr;

	(void)context;
	if (worker && worker->fiber != &worker->base && address < worker->fiber->lowest &&
	    address >= worker->fiber->lowest - IVL_HOLE)
		say("intervals: a task has used up its stack; INTERVALS_STACK, or "
		    "config.stack_bytes, says how large stacks are\n");
	sigaction(number, &standard, NULL);
	/* A fault repeats when we return; a signal that was sent does not. */
	if (info->si_code <= 0)
		raise(number);
}

static void run_in_child(struct ivl_work *work)
{
	(void)work;
	say("intervals: after fork(), a task in the child has returned or waits for another "
	    "task, but there are no workers\n");
	_exit(EXIT_FAILURE);
}

static void after_fork(void)
{
	/* Without a fiber: another thread may have held the lock of the stacks. */
	static const struct ivl_work_kind kind = { .run = run_in_child, .resumes = true };
	static struct ivl_work end = { .kind = &kind };

	if (ivl_worker_self) {
		ivl_worker_self->next = &end;
		if (ivl_worker_self->tied)
			ivl_tied_init(ivl_worker_self->tied, ivl_worker_self);
		/* Mail of any kind is the parent's. */
		atomic_store(&ivl_worker_self->runtime->attention, 0);
		atomic_store(&ivl_worker_self->runtime->high, 0);
	}
	ivl_watch_forget();
	ivl_machine_after_fork();
	ivl_outside_after_fork();
	pthread_mutex_init(&lock, NULL);
}

/* Of the calling thread. The kernel does not give up a stack that a handler runs on. */
static void free_signal_stack(void *stack)
{
	const stack_t none = { .ss_flags = SS_DISABLE };
	stack_t now;

	if (stack != NO_STACK && !sigaltstack(NULL, &now) &&
	    (now.ss_sp != stack || !sigaltstack(&none, NULL)))
		free(stack);
}

/*
 * AddressSanitizer would clear the stack before abort(), and believes that it still has the frames
 * of abandoned fibers.
 */
__attribute__((no_sanitize_address)) static void end_of_thread(void *stack)
{
	if (ivl_worker_self) {
		say("intervals: a task has terminated its worker's thread, by pthread_exit() or "
		    "pthread_cancel()\n");
		abort();
	}
	free_signal_stack(stack);
}

/* The library is unloaded, or the process ends. */
__attribute__((destructor)) static void end_of_library(void)
{
	void *stack = has_key ? pthread_getspecific(thread_key) : NULL;

	if (!has_key)
		return;
	pthread_key_delete(thread_key);
	has_key = false;
	if (stack)
		free_signal_stack(stack);
	if (ivl_process_page)
		munmap((void *)ivl_process_page, (size_t)sysconf(_SC_PAGESIZE));
	ivl_process_page = NULL;
}

static void take_signal(void)
{
	struct sigaction action = { .sa_sigaction = on_fault,
				    .sa_flags = SA_SIGINFO | SA_ONSTACK }, before;

	sigemptyset(&action.sa_mask);
	if (sigaction(SIGSEGV, NULL, &before) || before.sa_flags & SA_SIGINFO ||
	    before.sa_handler != SIG_DFL)
		return;
	handles = !sigaction(SIGSEGV, &action, NULL);
}

static void give_signal_back(void)
{
	const struct sigaction standard = { .sa_handler = SIG_DFL };
	struct sigaction now;

	/* The program may have installed its own handler since. */
	if (handles && !sigaction(SIGSEGV, NULL, &now) && now.sa_flags & SA_SIGINFO &&
	    now.sa_sigaction == on_fault)
		sigaction(SIGSEGV, &standard, NULL);
	handles = false;
}

int ivl_process_enter(void)
{
	static bool watches_forks;
	int error = 0;

	pthread_mutex_lock(&lock);
	if (!watches_forks) {
		error = pthread_atfork(NULL, NULL, after_fork);
		watches_forks = !error;
	}
	if (!error && !has_key) {
		error = pthread_key_create(&thread_key, end_of_thread);
		has_key = !error;
	}
	if (!error && !ivl_process_page)
		map_page();
	if (!error && !runtimes++)
		take_signal();
	pthread_mutex_unlock(&lock);
	return error;
}

void ivl_process_leave(void)
{
	pthread_mutex_lock(&lock);
	if (!--runtimes)
		give_signal_back();
	pthread_mutex_unlock(&lock);
}

void ivl_process_say_fewer(unsigned int workers, unsigned int asked_for)
{
	static _Atomic(bool) said;

	if (!atomic_exchange(&said, true))
		fprintf(stderr, "intervals: threads for only %u of %u workers; see ulimit -u and "
			"-v, and the cgroup's pids.max\n", workers, asked_for);
}

static bool has_signal_stack(void)
{
	stack_t now;

	return sigaltstack(NULL, &now) || !(now.ss_flags & SS_DISABLE);
}

/* Without memory for the key's value, the end of the thread goes unnoticed. */
void ivl_process_add_thread(void *stack, unsigned long bytes)
{
	const stack_t ours = { .ss_sp = stack, .ss_size = bytes };

	pthread_setspecific(thread_key, NO_STACK);
	if (!has_signal_stack())
		sigaltstack(&ours, NULL);
}

/* Without memory for a stack, an overflow is not reported. */
static void *visitor_stack(unsigned long bytes)
{
	stack_t ours = { .ss_sp = has_signal_stack() ? NULL : malloc(bytes), .ss_size = bytes };

	if (!ours.ss_sp)
		return NO_STACK;
	sigaltstack(&ours, NULL);
	return ours.ss_sp;
}

void ivl_process_add_visitor(unsigned long bytes)
{
	void *stack;

	if (__builtin_expect(pthread_getspecific(thread_key) != NULL, 1))
		return;
	stack = visitor_stack(bytes);
	if (pthread_setspecific(thread_key, stack))
		free_signal_stack(stack);
}

void ivl_process_remove_thread(void *stack)
{
	const stack_t none = { .ss_flags = SS_DISABLE };
	stack_t now;

	pthread_setspecific(thread_key, NULL);
	if (!sigaltstack(NULL, &now) && now.ss_sp == stack)
		sigaltstack(&none, NULL);
}
