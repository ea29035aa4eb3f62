// SPDX-License-Identifier: GPL-2.0
/*
 * Hands `often' over three times as often as `seldom': 30 and 10 times, exactly. With an
 * argument it does something else instead.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t often = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t seldom = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t inheriting;

static void *wait_for_it(void *lock)
{
	pthread_mutex_lock(lock);
	pthread_mutex_unlock(lock);
	return NULL;
}

static void hand_over(pthread_mutex_t *lock)
{
	pthread_t thread;

	pthread_mutex_lock(lock);
	if (pthread_create(&thread, NULL, wait_for_it, lock))
		exit(1);
	/* glibc: it has been found locked, and its finder is about to sleep. */
	while (*(volatile int *)&lock->__data.__lock != 2)
		;
	usleep(1000);
	pthread_mutex_unlock(lock);
	pthread_join(thread, NULL);
}

/* Five times, and none by futex_wake. The kernel unlocks it for the waiter, too. */
static void hand_over_with_priority_inheritance(void)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&inheriting, &attributes);
	for (int i = 0; i < 5; i++) {
		pthread_t thread;

		pthread_mutex_lock(&inheriting);
		if (pthread_create(&thread, NULL, wait_for_it, &inheriting))
			exit(1);
		usleep(10000);
		pthread_mutex_unlock(&inheriting);
		pthread_join(thread, NULL);
	}
}

struct padded {
	char before[64];
	pthread_mutex_t lock;
};

static __attribute__((noinline)) struct padded *first_owner(void)
{
	struct padded *new = malloc(sizeof(*new));	/* first */

	pthread_mutex_init(&new->lock, NULL);
	return new;
}

static __attribute__((noinline)) struct padded *second_owner(void)
{
	struct padded *new = malloc(sizeof(*new));	/* second */

	/* A compiler makes one function of two that are alike. */
	new->before[0] = 0;
	pthread_mutex_init(&new->lock, NULL);
	return new;
}

static __attribute__((noinline)) pthread_mutex_t *aligned_owner(void)
{
	void *new;

	if (posix_memalign(&new, 64, 4096))	/* aligned */
		exit(1);
	pthread_mutex_init(new, NULL);
	return new;
}

/* The first two have the same memory, one after the other. */
static void hand_over_allocated(void)
{
	struct padded *lock = first_owner();
	pthread_mutex_t *aligned = aligned_owner();
	uintptr_t first = (uintptr_t)lock;

	for (int i = 0; i < 3; i++)
		hand_over(&lock->lock);
	free(lock);
	lock = second_owner();
	if ((uintptr_t)lock != first)
		exit(1);
	for (int i = 0; i < 3; i++)
		hand_over(&lock->lock);
	for (int i = 0; i < 3; i++)
		hand_over(aligned);
}

int main(int argc, char **argv)
{
	const char *instead = argc > 1 ? argv[1] : "";

	if (!strcmp(instead, "fail")) {
		fprintf(stderr, "this is why\n");
		return 3;
	}
	if (!strcmp(instead, "hang"))
		for (;;)
			pause();
	if (!strcmp(instead, "alone"))
		return 0;
	if (!strcmp(instead, "inherit")) {
		hand_over_with_priority_inheritance();
		return 0;
	}
	if (!strcmp(instead, "allocated")) {
		hand_over_allocated();
		return 0;
	}
	for (int i = 0; i < 40; i++)
		hand_over(i % 4 ? &often : &seldom);
	return 0;
}
