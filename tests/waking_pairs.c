// SPDX-License-Identifier: GPL-2.0
/* Pairs of threads that wake each other by pipes, and compute between. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define PAIRS 6
#define ROUNDS 60
#define TURNS 3000

static int there[PAIRS][2], back[PAIRS][2];

static void pass(int fd)
{
	char token = 0;

	if (write(fd, &token, 1) != 1)
		abort();
}

static void wait_for(int fd)
{
	char token;

	if (read(fd, &token, 1) != 1)
		abort();
}

static void compute(void)
{
	for (volatile int i = 0; i < TURNS; i++)
		;
}

static void *ask(void *pair)
{
	for (int i = 0; i < ROUNDS; i++) {
		pass(there[(long)pair][1]);
		wait_for(back[(long)pair][0]);
		compute();
	}
	return NULL;
}

static void *answer(void *pair)
{
	for (int i = 0; i < ROUNDS; i++) {
		wait_for(there[(long)pair][0]);
		compute();
		pass(back[(long)pair][1]);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[PAIRS][2];

	for (long i = 0; i < PAIRS; i++) {
		if (pipe(there[i]) || pipe(back[i]))
			return 1;
		if (pthread_create(&threads[i][0], NULL, ask, (void *)i) ||
		    pthread_create(&threads[i][1], NULL, answer, (void *)i))
			return 1;
	}
	for (int i = 0; i < PAIRS; i++) {
		pthread_join(threads[i][0], NULL);
		pthread_join(threads[i][1], NULL);
	}
	return 0;
}
