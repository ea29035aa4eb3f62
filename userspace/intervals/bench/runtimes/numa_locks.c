// SPDX-License-Identifier: LGPL-2.1-or-later
/* The objects of intervals_sync.h, whose parts lie on the waiters' nodes. */
#include "intervals_sync.h"

typedef ivl_numa_mutex sync_mutex;
typedef ivl_numa_cond sync_cond;
typedef ivl_numa_barrier sync_barrier;

#define sync_mutex_init ivl_numa_mutex_init
#define sync_mutex_destroy ivl_numa_mutex_destroy
#define sync_mutex_lock ivl_numa_mutex_lock
#define sync_mutex_unlock ivl_numa_mutex_unlock
#define sync_cond_init ivl_numa_cond_init
#define sync_cond_destroy ivl_numa_cond_destroy
#define sync_cond_wait ivl_numa_cond_wait
#define sync_cond_broadcast ivl_numa_cond_broadcast
#define sync_barrier_init ivl_numa_barrier_init
#define sync_barrier_destroy ivl_numa_barrier_destroy
#define sync_barrier_wait ivl_numa_barrier_wait

#include "runtimes/locks.h"

static const struct bench_form forms[] = {
	{ "sync_parallel", sync_parallel_run }, { "sync_barrier", sync_barrier_run },
	{ "sync_lock", sync_lock_run }, { "sync_reduction", sync_reduction_run }, { 0, 0 }
};

const struct bench_runtime bench_runtime = {
	.name = "numa_locks", .start = start, .stop = stop, .enter = enter, .forms = forms,
	.max_workers = SYNC_THREADS,
};
