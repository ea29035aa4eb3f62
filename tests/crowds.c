// SPDX-License-Identifier: GPL-2.0
/*
 * Two pairs of threads take turns, so the policy gathers each pair at a home of its own. Then all
 * four threads work at the same time and meet at a barrier, which makes them one lock group. Prints
 * how long the second half of these rounds took, relative to the work of one thread in them.
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

#define PAIRS	2
#define TURNS	1500
#define ROUNDS	120

static _Atomic uint32_t turn[PAIRS][16], round_now;
static atomic_int arrived;
static uint64_t half, end;

static void wait_while(_Atomic uint32_t *word, uint32_t value)
{
	while (*word == value)
		syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL);
}

static void wake(_Atomic uint32_t *word, int threads)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, threads);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* A loop, no sleep: it takes longer while the thread does not run. */
static void work(int times)
{
	for (volatile int i = 0; i < times * 10000; i++)
		;
}

static void meet(void)
{
	uint32_t round = round_now;

	if (++arrived < 2 * PAIRS) {
		wait_while(&round_now, round);
		return;
	}
	arrived = 0;
	if (round == ROUNDS / 2)
		half = now();
	if (round == ROUNDS)
		end = now();
	round_now = round + 1;
	wake(&round_now, 2 * PAIRS);
}

static void *run(void *arg)
{
	long number = (long)arg;
	_Atomic uint32_t *mine = turn[number / 2];

	for (int i = 0; i < TURNS; i++) {
		wait_while(mine, !(number % 2));
		work(1);
		*mine = !(number % 2);
		wake(mine, 1);
	}
	for (int i = 0; i <= ROUNDS; i++) {
		work(10);
		meet();
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[2 * PAIRS];
	uint64_t begin = now(), alone;

	work(10);
	alone = now() - begin;
	for (long i = 0; i < 2 * PAIRS; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)i))
			return EXIT_FAILURE;
	for (int i = 0; i < 2 * PAIRS; i++)
		pthread_join(threads[i], NULL);
	printf("times %.2f\n", (double)(end - half) / (ROUNDS - ROUNDS / 2) / alone);
	return EXIT_SUCCESS;
}
