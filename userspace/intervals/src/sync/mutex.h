/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What condition variables know of mutexes. */
#ifndef IVL_SYNC_MUTEX_H
#define IVL_SYNC_MUTEX_H

#include "intervals_sync.h"
#include "sync/cohort.h"
#include "sync/node.h"

struct ivl_numa_mutex {
	struct ivl_sync_object object;		/* with a struct ivl_cohort per node */
	struct ivl_cohort_lock lock;
	/* ivl_task_number(), or 0. Compared with oneself only; relaxed, as nobody else's matters. */
	_Atomic(uint64_t) owner;
};

/*
 * A number that no other task or thread of the process has had. A child that ivl_sync()
 * calls has its spawner's only if it keeps it: if it asks first, and ends with the mutex.
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
