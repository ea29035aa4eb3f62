// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of a call into the kernel: one of the operations below, repeated on CPU 0. The
 * region of interest is COUNT operations, of which a simulated machine counts the
 * instructions of that CPU. During operations that wake a thread, CPU 1 is kept busy: the
 * kernel has to choose between the CPUs, but chooses CPU 0, so that the count is the same
 * each time. A woken thread preempts no thread (SCHED_BATCH): else it would be chance how
 * often its waker need not sleep. Prints one line of JSON, with the CPU at the end.
 *
 *	overhead OPERATION COUNT
 *
 *	wake	FUTEX_WAKE without a waiter
 *	wait	FUTEX_WAIT of another value, which does not wait
 *	handoff	FUTEX_WAKE of a thread that waits, which then runs while its waker waits
 *	wakeup	the same by two pipes, without a futex
 *	switch	sched_yield() to another thread
 */
#include <error.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "roi.h"

#define EXIT_USAGE 2
/* Operations before the region of interest. */
#define WARMUP 2000
#define MAX_COUNT 1000000

struct operation {
	const char *name;
	void (*once)(void);
	void *(*partner)(void *arg);	/* or NULL: there is none */
	bool places;			/* the kernel chooses between CPUs */
};

enum { MINE, PARTNERS };
enum { MEASURED_CPU, BUSY_CPU };

static atomic_uint turns[2];
static int pipes[2][2];
static atomic_bool over;

static void futex(atomic_uint *word, int operation, unsigned int value)
{
	syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

static void wake_nobody(void)
{
	futex(&turns[MINE], FUTEX_WAKE, 1);
}

static void wait_for_another_value(void)
{
	futex(&turns[MINE], FUTEX_WAIT, 1);
}

static void give_turn(int whose)
{
	atomic_store(&turns[whose], 1);
	futex(&turns[whose], FUTEX_WAKE, 1);
}

static void await_turn(int whose)
{
	while (!atomic_exchange(&turns[whose], 0))
		futex(&turns[whose], FUTEX_WAIT, 0);
}

static void hand_off(void)
{
	give_turn(PARTNERS);
	await_turn(MINE);
}

static void *hand_back(void *arg)
{
	bool last;

	do {
		await_turn(PARTNERS);
		last = atomic_load(&over);
		give_turn(MINE);
	} while (!last);
	return arg;
}

static void send(int whose)
{
	if (write(pipes[whose][1], "", 1) != 1)
		error(1, errno, "cannot write to a pipe");
}

static void receive(int whose)
{
	char c;

	if (read(pipes[whose][0], &c, 1) != 1)
		error(1, errno, "cannot read from a pipe");
}

static void wake_up(void)
{
	send(PARTNERS);
	receive(MINE);
}

static void *wake_back(void *arg)
{
	bool last;

	do {
		receive(PARTNERS);
		last = atomic_load(&over);
		send(MINE);
	} while (!last);
	return arg;
}

static void yield(void)
{
	sched_yield();
}

static void *yield_back(void *arg)
{
	while (!atomic_load(&over))
		sched_yield();
	return arg;
}

static const struct operation operations[] = {
	{ "wake", wake_nobody, NULL, false },
	{ "wait", wait_for_another_value, NULL, false },
	{ "handoff", hand_off, hand_back, true },
	{ "wakeup", wake_up, wake_back, true },
	{ "switch", yield, yield_back, false },
};

static const struct operation *find(const char *name)
{
	for (size_t i = 0; i < sizeof(operations) / sizeof(*operations); i++)
		if (!strcmp(operations[i].name, name))
			return &operations[i];
	error(EXIT_USAGE, 0, "there is no operation %s: it is wake, wait, handoff, wakeup or switch",
	      name);
	return NULL;
}

static void run_on(pthread_t thread, int first, int last)
{
	cpu_set_t cpus;
	int err;

	CPU_ZERO(&cpus);
	for (int cpu = first; cpu <= last; cpu++)
		CPU_SET(cpu, &cpus);
	err = pthread_setaffinity_np(thread, sizeof(cpus), &cpus);
	if (err)
		error(1, err, "cannot run on CPU %d", last);
}

/* With enough weight, where that is allowed, that no balancer moves a thread there. */
static void *keep_busy(void *arg)
{
	atomic_bool *begun = arg;

	run_on(pthread_self(), BUSY_CPU, BUSY_CPU);
	setpriority(PRIO_PROCESS, (id_t)gettid(), -20);
	atomic_store(begun, true);
	while (!atomic_load(&over))
		;
	return arg;
}

static pthread_t start(void *(*run)(void *arg), void *arg)
{
	pthread_t thread;
	int err = pthread_create(&thread, NULL, run, arg);

	if (err)
		error(1, err, "cannot create a thread");
	return thread;
}

static void preempt_nobody(void)
{
	const struct sched_param normal = { 0 };

	/* Threads inherit it. */
	if (sched_setscheduler(0, SCHED_BATCH, &normal))
		error(1, errno, "cannot be a batch process");
}

static unsigned long number(const char *text)
{
	char *end;
	unsigned long count = strtoul(text, &end, 10);

	if (*end || count < 1 || count > MAX_COUNT)
		error(EXIT_USAGE, 0, "COUNT is %s: it must be from 1 to %d", text, MAX_COUNT);
	return count;
}

int main(int argc, char **argv)
{
	const struct operation *operation;
	pthread_t partner = 0, busy = 0;
	atomic_bool begun = false;
	unsigned long count;
	int cpu;

	if (argc != 3)
		error(EXIT_USAGE, 0, "usage: overhead OPERATION COUNT");
	operation = find(argv[1]);
	count = number(argv[2]);

	preempt_nobody();
	run_on(pthread_self(), MEASURED_CPU, MEASURED_CPU);
	if (pipe(pipes[MINE]) || pipe(pipes[PARTNERS]))
		error(1, errno, "cannot make a pipe");
	if (operation->partner)
		partner = start(operation->partner, NULL);
	if (operation->places) {
		busy = start(keep_busy, &begun);
		while (!atomic_load(&begun))
			sched_yield();
		run_on(partner, MEASURED_CPU, BUSY_CPU);
		run_on(pthread_self(), MEASURED_CPU, BUSY_CPU);
	}

	roi_warmup();
	for (unsigned long i = 0; i < WARMUP; i++)
		operation->once();
	roi_begin();
	for (unsigned long i = 0; i < count; i++)
		operation->once();
	roi_end();
	cpu = sched_getcpu();

	atomic_store(&over, true);
	if (operation->partner) {
		operation->once();
		pthread_join(partner, NULL);
	}
	if (operation->places)
		pthread_join(busy, NULL);
	printf("{\"operation\":\"%s\",\"count\":%lu,\"cpu\":%d,\"check\":\"ok\"}\n", operation->name,
	       count, cpu);
	return 0;
}
