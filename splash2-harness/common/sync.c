// SPDX-License-Identifier: GPL-2.0
/*
 * PARMACS' locks, barriers and flags on pthreads.
 *
 * The clock is read with --profile only, and for a lock only when it is not free:
 * what is measured is waiting, and an uncontended lock costs what it always does.
 */
#include "clock.h"
#include "splash.h"

void splash_lock_init(struct splash_lock *lock)
{
	pthread_mutex_init(&lock->mutex, NULL);
}

void splash_lock(struct splash_worker *w, struct splash_lock *lock)
{
	uint64_t start;

	w->profile.locks++;
	if (!w->opt->profile) {
		pthread_mutex_lock(&lock->mutex);
		return;
	}
	if (pthread_mutex_trylock(&lock->mutex) == 0)
		return;
	w->profile.contended++;
	start = clock_ns(CLOCK_MONOTONIC);
	pthread_mutex_lock(&lock->mutex);
	w->profile.lock_ns += clock_ns(CLOCK_MONOTONIC) - start;
}

void splash_unlock(struct splash_lock *lock)
{
	pthread_mutex_unlock(&lock->mutex);
}

void splash_barrier_init(struct splash_barrier *barrier, unsigned int threads)
{
	pthread_mutex_init(&barrier->mutex, NULL);
	pthread_cond_init(&barrier->passed, NULL);
	barrier->threads = threads;
	barrier->arrived = 0;
	barrier->generation = 0;
}

void splash_barrier(struct splash_worker *w, struct splash_barrier *barrier)
{
	uint64_t start = w->opt->profile ? clock_ns(CLOCK_MONOTONIC) : 0;

	w->profile.barriers++;
	pthread_mutex_lock(&barrier->mutex);
	if (++barrier->arrived == barrier->threads) {
		barrier->arrived = 0;
		barrier->generation++;
		pthread_cond_broadcast(&barrier->passed);
	} else {
		const uint64_t generation = barrier->generation;

		while (barrier->generation == generation)
			pthread_cond_wait(&barrier->passed, &barrier->mutex);
	}
	pthread_mutex_unlock(&barrier->mutex);
	if (w->opt->profile)
		w->profile.barrier_ns += clock_ns(CLOCK_MONOTONIC) - start;
}

void splash_flag_init(struct splash_flag *flag)
{
	pthread_mutex_init(&flag->mutex, NULL);
	pthread_cond_init(&flag->set_now, NULL);
	flag->set = false;
}

void splash_flag_set(struct splash_flag *flag)
{
	pthread_mutex_lock(&flag->mutex);
	flag->set = true;
	pthread_mutex_unlock(&flag->mutex);
	pthread_cond_broadcast(&flag->set_now);
}

void splash_flag_wait(struct splash_worker *w, struct splash_flag *flag)
{
	uint64_t start = w->opt->profile ? clock_ns(CLOCK_MONOTONIC) : 0;

	w->profile.flags++;
	pthread_mutex_lock(&flag->mutex);
	while (!flag->set)
		pthread_cond_wait(&flag->set_now, &flag->mutex);
	pthread_mutex_unlock(&flag->mutex);
	if (w->opt->profile)
		w->profile.flag_ns += clock_ns(CLOCK_MONOTONIC) - start;
}

void splash_flag_clear(struct splash_flag *flag)
{
	pthread_mutex_lock(&flag->mutex);
	flag->set = false;
	pthread_mutex_unlock(&flag->mutex);
}
