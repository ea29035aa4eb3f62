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
#include <unistd.h>

#include "watch/watch.h"
#include "worker.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int runtimes;
static pthread_key_t thread_key;
static bool handles;			/* SIGSEGV is ours */

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
	pthread_mutex_init(&lock, NULL);
}

/*
 * AddressSanitizer would clear the stack before abort(), and believes that it still has the frames
 * of abandoned fibers.
 */
__attribute__((no_sanitize_address)) static void end_of_thread(void *worker)
{
	(void)worker;
	say("intervals: a task has terminated its worker's thread, by pthread_exit() or "
	    "pthread_cancel()\n");
	abort();
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
	if (!error && !runtimes)
		error = pthread_key_create(&thread_key, end_of_thread);
	if (!error && !runtimes++)
		take_signal();
	pthread_mutex_unlock(&lock);
	return error;
}

void ivl_process_leave(void)
{
	pthread_mutex_lock(&lock);
	if (!--runtimes) {
		give_signal_back();
		pthread_key_delete(thread_key);
	}
	pthread_mutex_unlock(&lock);
}

void ivl_process_say_fewer(unsigned int workers, unsigned int asked_for)
{
	static _Atomic(bool) said;

	if (!atomic_exchange(&said, true))
		fprintf(stderr, "intervals: threads for only %u of %u workers; see ulimit -u and "
			"-v, and the cgroup's pids.max\n", workers, asked_for);
}

void ivl_process_add_thread(struct ivl_worker *worker, void *stack, unsigned long bytes)
{
	const stack_t ours = { .ss_sp = stack, .ss_size = bytes };
	stack_t before;

	/* Without memory for it, the end of the thread goes unnoticed. */
	pthread_setspecific(thread_key, worker);
	if (!sigaltstack(NULL, &before) && before.ss_flags & SS_DISABLE)
		sigaltstack(&ours, NULL);
}

void ivl_process_remove_thread(void *stack)
{
	const stack_t none = { .ss_flags = SS_DISABLE };
	stack_t now;

	pthread_setspecific(thread_key, NULL);
	if (!sigaltstack(NULL, &now) && now.ss_sp == stack)
		sigaltstack(&none, NULL);
}
