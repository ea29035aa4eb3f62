/* SPDX-License-Identifier: GPL-2.0 */
/* What condition variables know of mutexes. */
#ifndef IVL_SYNC_MUTEX_H
#define IVL_SYNC_MUTEX_H

#include "intervals_sync.h"
#include "sync/cohort.h"
#include "sync/node.h"

struct ivl_numa_mutex {
	struct ivl_sync_object object;		/* with a struct ivl_cohort per node */
	struct ivl_cohort_lock lock;
	/* Compared with oneself only; relaxed, as nobody else's matters. */
	_Atomic(struct ivl_local *) owner;
};

static inline bool ivl_numa_mutex_is_mine(ivl_numa_mutex *mutex)
{
	return atomic_load_explicit(&mutex->owner, memory_order_relaxed) == ivl_local();
}

static inline void ivl_numa_mutex_own(ivl_numa_mutex *mutex)
{
	atomic_store_explicit(&mutex->owner, ivl_local(), memory_order_relaxed);
}

#endif
