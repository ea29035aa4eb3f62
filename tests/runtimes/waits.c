// SPDX-License-Identifier: GPL-2.0
/*
 * Four threads that wait for each other in one way only (the argument):
 *
 *	mutex		they share a mutex, which is the bottleneck
 *	semaphore	the same with a semaphore in its place
 *	rwlock		the same with a read-write lock that all take for writing
 *	condition	two pairs take turns by a condition variable for each pair; mutexes are free
 *	signals		the same with a condition variable for each thread
 *	barrier		they meet at a barrier
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, PAIRS = THREADS / 2, INSIDE = 10000, OUTSIDE = 2000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static pthread_barrier_t barrier;
static struct pair {
	pthread_mutex_t mutex;
	pthread_cond_t changed[2];
	int turn;
} pairs[PAIRS] = {
	{ PTHREAD_MUTEX_INITIALIZER, { PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER }, 0 },
	{ PTHREAD_MUTEX_INITIALIZER, { PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER }, 0 },
};
static int conditions = 1;	/* of a pair */
static long rounds;
static volatile long shared;

static void work(void)
{
	for (int i = 0; i < INSIDE; i++)
		shared++;
}

static void work_apart(void)
{
	volatile long own = 0;

	for (int i = 0; i < OUTSIDE; i++)
		own++;
}

static void with_mutex(long thread)
{
	(void)thread;
	pthread_mutex_lock(&mutex);
	work();
	pthread_mutex_unlock(&mutex);
	work_apart();
}

static void with_semaphore(long thread)
{
	(void)thread;
	sem_wait(&semaphore);
	work();
	sem_post(&semaphore);
	work_apart();
}

static void with_rwlock(long thread)
{
	(void)thread;
	pthread_rwlock_wrlock(&rwlock);
	work();
	pthread_rwlock_unlock(&rwlock);
	work_apart();
}

static void with_condition(long thread)
{
	struct pair *pair = &pairs[thread / 2];
	int me = (int)(thread % 2);

	pthread_mutex_lock(&pair->mutex);
	while (pair->turn != me)
		pthread_cond_wait(&pair->changed[me % conditions], &pair->mutex);
	pair->turn = !me;
	/* Woken after the unlock, the other thread finds the mutex free. */
	pthread_mutex_unlock(&pair->mutex);
	pthread_cond_signal(&pair->changed[!me % conditions]);
}

static void with_barrier(long thread)
{
	(void)thread;
	pthread_barrier_wait(&barrier);
}

static void (*way)(long thread);

static void *run(void *thread)
{
	for (long i = 0; i < rounds; i++)
		way((long)thread);
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*way)(long thread);
		int conditions;
	} ways[] = {
		{ "mutex", with_mutex, 1 },	    { "semaphore", with_semaphore, 1 },
		{ "rwlock", with_rwlock, 1 },	    { "condition", with_condition, 1 },
		{ "signals", with_condition, 2 },   { "barrier", with_barrier, 1 },
	};
	pthread_t threads[THREADS];

	rounds = argc == 3 ? atol(argv[2]) : 0;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (rounds > 0 && !strcmp(argv[1], ways[i].name)) {
			way = ways[i].way;
			conditions = ways[i].conditions;
		}
	}
	if (!way) {
		fprintf(stderr, "usage: waits mutex|semaphore|rwlock|condition|signals|barrier N\n");
		return 2;
	}
	sem_init(&semaphore, 0, 1);
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	for (long i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
