/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The part of mutexes that condition variables use. */
#ifndef IVL_SYNC_MUTEX_H
#define IVL_SYNC_MUTEX_H

#include "intervals_sync.h"
#include "sync/cohort.h"
#include "sync/node.h"

struct ivl_numa_mutex {
	struct ivl_sync_object object;		/* with a struct ivl_cohort per node */
	struct ivl_cohort_lock lock;
	/* ivl_task_number(), or 0. Relaxed: compared only with the caller's own number. */
	_Atomic(uint64_t) owner;
};

/*
 * Unique among all tasks and threads of the process. A child that ivl_sync() calls has its
 * spawner's number only if it asks for one first and ends with the mutex.
 */
uint64_t ivl_task_number(void);

static inline bool ivl_numa_mutex_is_mine(ivl_numa_mutex *mutex)
{
	return atomic_load_explicit(&mutex->owner, memory_order_relaxed) == ivl_task_number();
}

static inline void ivl_numa_mutex_own(ivl_numa_mutex *mutex)
{
	atomic_store_explicit(&mutex->owner, ivl_task_number(), memory_order_relaxed);
}

#endif
