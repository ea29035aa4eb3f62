// SPDX-License-Identifier: LGPL-2.1-or-later
/* POSIX's objects, which ignore NUMA nodes, and the NUMA thesis' spin lock. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

typedef pthread_mutex_t sync_mutex;
typedef pthread_cond_t sync_cond;
typedef pthread_barrier_t sync_barrier;

#define sync_mutex_lock pthread_mutex_lock
#define sync_mutex_unlock pthread_mutex_unlock
#define sync_cond_wait pthread_cond_wait
#define sync_cond_broadcast pthread_cond_broadcast
#define sync_barrier_wait pthread_barrier_wait

static int sync_mutex_init(sync_mutex **made)
{
	*made = malloc(sizeof(**made));
	return *made ? pthread_mutex_init(*made, NULL) : ENOMEM;
}

static void sync_mutex_destroy(sync_mutex *old)
{
	pthread_mutex_destroy(old);
	free(old);
}

static int sync_cond_init(sync_cond **made)
{
	*made = malloc(sizeof(**made));
	return *made ? pthread_cond_init(*made, NULL) : ENOMEM;
}

static void sync_cond_destroy(sync_cond *old)
{
	pthread_cond_destroy(old);
	free(old);
}

static int sync_barrier_init(sync_barrier **made, unsigned int count)
{
	*made = malloc(sizeof(**made));
	return *made ? pthread_barrier_init(*made, NULL, count) : ENOMEM;
}

static void sync_barrier_destroy(sync_barrier *old)
{
	pthread_barrier_destroy(old);
	free(old);
}

#include "runtimes/locks.h"

static pthread_spinlock_t spin;
static unsigned int other;			/* the thread that contends with the first */

static void count_spinning(unsigned int thread)
{
	if (thread && thread != other)
		return;
	for (unsigned int left = share(!!thread, other ? 2 : 1); left; left--) {
		pthread_spin_lock(&spin);
		bench_sync.shared++;
		pthread_spin_unlock(&spin);
	}
}

static void contend_with(unsigned int thread)
{
	other = thread;
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	run_region(count_spinning);
	pthread_spin_destroy(&spin);
}

static void spin_near_run(void)
{
	contend_with(threads > 1);
}

static void spin_apart_run(void)
{
	contend_with(threads - 1);
}

#define FORM(name, form) { #name, form##_run },

static const struct bench_form forms[] = { SYNC(FORM) { 0, 0 } };

const struct bench_runtime bench_runtime = {
	.name = "locks", .start = start, .stop = stop, .enter = enter, .forms = forms,
	.max_workers = SYNC_THREADS,
};
