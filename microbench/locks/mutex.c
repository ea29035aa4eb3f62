// SPDX-License-Identifier: GPL-2.0
/* glibc's mutexes: the normal one, that which spins before it sleeps, and that of PI futexes. */
#include <pthread.h>

#include "locks.h"

struct lock {
	pthread_mutex_t mutex;
};

const size_t lock_size = sizeof(struct lock);

void lock_init(struct lock *lock, const struct options *opt)
{
	pthread_mutexattr_t attributes;

	(void)opt;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, TYPE);
	pthread_mutexattr_setprotocol(&attributes, PROTOCOL);
	pthread_mutex_init(&lock->mutex, &attributes);
}

void lock_take(struct lock *lock, struct worker *w)
{
	(void)w;
	pthread_mutex_lock(&lock->mutex);
}

void lock_release(struct lock *lock, struct worker *w)
{
	(void)w;
	pthread_mutex_unlock(&lock->mutex);
}
