// SPDX-License-Identifier: GPL-2.0
/*
 * Two threads take turns, so the policy gathers them. Now and then one of them waits for a stranger,
 * a third thread that hands over to no other. Prints how often the woken thread ran on the CPU of the
 * second one.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ALONE	1000		/* turns without the stranger, to be gathered in */
#define CALLS	20
#define BETWEEN	50		/* turns, so that the stranger does not join their lock group */

static _Atomic uint32_t turn, wanted, given;
static atomic_int cpu[2], together;

static void wait_while(_Atomic uint32_t *word, uint32_t value)
{
	while (*word == value)
		syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL);
}

static void wake(_Atomic uint32_t *word, int threads)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, threads);
}

static void work(int times)
{
	for (volatile int i = 0; i < times * 10000; i++)
		;
}

/* By number `mine`, of which the other one waits for its turn. */
static void call_stranger(uint32_t call, int mine)
{
	wanted = call;
	wait_while(&given, call - 1);
	together += sched_getcpu() == cpu[!mine];
}

static void *take_turns(void *arg)
{
	const int mine = arg != NULL;
	uint32_t call = 0;

	for (int i = 0; i < ALONE + CALLS * BETWEEN; i++) {
		wait_while(&turn, !mine);
		cpu[mine] = sched_getcpu();
		work(1);
		/* One after the other. */
		if (i >= ALONE && i % BETWEEN == 0 && ++call % 2 == (uint32_t)mine)
			call_stranger(call, mine);
		turn = !mine;
		wake(&turn, 1);
	}
	return NULL;
}

/* Stays awake, so that no thread hands over to it. */
static void *stranger(void *arg)
{
	for (uint32_t call = 1; call <= CALLS; call++) {
		while (wanted != call)
			;
		/* The caller is asleep then. */
		work(5);
		given = call;
		wake(&given, INT_MAX);
	}
	return arg;
}

int main(void)
{
	pthread_t threads[3];

	if (pthread_create(&threads[0], NULL, take_turns, NULL) ||
	    pthread_create(&threads[1], NULL, take_turns, &turn) ||
	    pthread_create(&threads[2], NULL, stranger, NULL))
		return EXIT_FAILURE;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("together %d of %d\n", together, CALLS);
	return EXIT_SUCCESS;
}
