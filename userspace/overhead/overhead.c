// SPDX-License-Identifier: GPL-2.0
/*
 * What a call into the kernel costs: one of the operations below, again and again, on
 * one CPU. The region of interest is COUNT of them, of which a simulated machine counts
 * the instructions. Prints one line of JSON.
 *
 *	overhead OPERATION COUNT
 *
 *	wake	FUTEX_WAKE, and nobody waits
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
#include <sys/syscall.h>
#include <unistd.h>

#include "roi.h"

#define EXIT_USAGE 2
/* Until then whatever is measured while it begins has been. */
#define WARMUP 2000
#define MAX_COUNT 1000000

struct operation {
	const char *name;
	void (*once)(void);
	void *(*partner)(void *arg);	/* or NULL: there is none */
};

enum { MINE, PARTNERS };

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
	{ "wake", wake_nobody, NULL },
	{ "handoff", hand_off, hand_back },
	{ "wakeup", wake_up, wake_back },
	{ "switch", yield, yield_back },
};

static const struct operation *find(const char *name)
{
	for (size_t i = 0; i < sizeof(operations) / sizeof(*operations); i++)
		if (!strcmp(operations[i].name, name))
			return &operations[i];
	error(EXIT_USAGE, 0, "there is no operation %s: it is wake, handoff, wakeup or switch", name);
	return NULL;
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
	unsigned long count;
	cpu_set_t first;
	pthread_t partner;

	if (argc != 3)
		error(EXIT_USAGE, 0, "usage: overhead OPERATION COUNT");
	operation = find(argv[1]);
	count = number(argv[2]);

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	if (sched_setaffinity(0, sizeof(first), &first))
		error(1, errno, "cannot stay on CPU 0");
	if (pipe(pipes[MINE]) || pipe(pipes[PARTNERS]))
		error(1, errno, "cannot make a pipe");
	if (operation->partner) {
		int err = pthread_create(&partner, NULL, operation->partner, NULL);

		if (err)
			error(1, err, "cannot create a thread");
	}

	roi_warmup();
	for (unsigned long i = 0; i < WARMUP; i++)
		operation->once();
	roi_begin();
	for (unsigned long i = 0; i < count; i++)
		operation->once();
	roi_end();

	atomic_store(&over, true);
	if (operation->partner) {
		operation->once();
		pthread_join(partner, NULL);
	}
	printf("{\"operation\":\"%s\",\"count\":%lu,\"check\":\"ok\"}\n", operation->name, count);
	return 0;
}
