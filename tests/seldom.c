// SPDX-License-Identifier: GPL-2.0
/*
 * Two threads take turns, and in each turn make many futex calls in which no thread sleeps, as with
 * a lock whose waiters seldom sleep. Prints how long one of these calls takes, in nanoseconds.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TURNS	240
#define CALLS	200

static _Atomic uint32_t turn;
static uint64_t spent[2];

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void *run(void *arg)
{
	uint32_t number = (uintptr_t)arg;

	for (int i = 0; i < TURNS; i++) {
		uint64_t begin;

		while (turn != number)
			syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, !number, NULL);
		begin = now();
		for (int j = 0; j < CALLS; j++)
			syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, !number, NULL);
		spent[number] += now() - begin;
		turn = !number;
		syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	for (uintptr_t i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)i))
			return EXIT_FAILURE;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("ns %.1f\n", (spent[0] + spent[1]) / (2.0 * TURNS * CALLS));
	return EXIT_SUCCESS;
}
