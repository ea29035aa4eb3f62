// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <sched.h>

#include "deadlock.h"
#include "sync/mutex.h"

uint64_t ivl_task_number(void)
{
	static _Atomic(uint64_t) last;
	struct ivl_local *local = ivl_local();

	/* Relaxed: only uniqueness matters. */
	if (local->task < IVL_TASK_ONE)
		local->task += atomic_fetch_add_explicit(&last, IVL_TASK_ONE,
							 memory_order_relaxed) + IVL_TASK_ONE;
	return local->task;
}

static struct ivl_cohort *cohort_of(ivl_numa_mutex *mutex, unsigned int node)
{
	return mutex->object.parts[node];
}

static struct ivl_cohort *callers_cohort(ivl_numa_mutex *mutex)
{
	return cohort_of(mutex, ivl_sync_node(mutex->object.nodes));
}

int ivl_numa_mutex_init(ivl_numa_mutex **result)
{
	ivl_numa_mutex *mutex = ivl_sync_create(sizeof(*mutex), sizeof(struct ivl_cohort));

	if (!mutex)
		return ENOMEM;
	ivl_cohort_lock_init(&mutex->lock, mutex->object.nodes == 1, IVL_NUMA_LOCAL_PASSES);
	atomic_init(&mutex->owner, 0);
	for (unsigned int i = 0; i < mutex->object.nodes; i++)
		ivl_cohort_init(cohort_of(mutex, i), mutex->object.nodes == 1);
	*result = mutex;
	return 0;
}

int ivl_numa_mutex_destroy(ivl_numa_mutex *mutex)
{
	for (unsigned int i = 0; i < mutex->object.nodes; i++) {
		while (!ivl_guard_queue_free(&cohort_of(mutex, i)->queue)) {
			if (mutex->object.nodes == 1 || !ivl_guard_queue_free(&mutex->lock.global))
				return EBUSY;
			/* The last holder on that node is about to give up the queue, too. */
			sched_yield();
		}
	}
	ivl_sync_destroy(mutex);
	return 0;
}

/* Only tasks can end the wait if the owner is a waiting task. */
static bool describe(const void *arg, struct ivl_inspection *inspection)
{
	const ivl_numa_mutex *mutex = arg;
	const uint64_t owner = atomic_load_explicit(&mutex->owner, memory_order_relaxed);

	for (const struct ivl_fiber *fiber = inspection->last; fiber; fiber = fiber->made) {
		if (!owner || !fiber->publish ||
		    fiber->local.task / IVL_TASK_ONE != owner / IVL_TASK_ONE)
			continue;
		ivl_inspection_say(inspection, " waits for a mutex owned by ");
		ivl_describe_task(fiber, inspection);
		return true;
	}
	return false;
}

int ivl_numa_mutex_lock(ivl_numa_mutex *mutex)
{
	if (ivl_numa_mutex_is_mine(mutex))
		return EDEADLK;
	ivl_awaits(mutex, describe);
	ivl_cohort_lock(&mutex->lock, callers_cohort(mutex));
	ivl_awaits(NULL, NULL);
	ivl_numa_mutex_own(mutex);
	return 0;
}

int ivl_numa_mutex_trylock(ivl_numa_mutex *mutex)
{
	if (!ivl_cohort_trylock(&mutex->lock, callers_cohort(mutex)))
		return EBUSY;
	ivl_numa_mutex_own(mutex);
	return 0;
}

int ivl_numa_mutex_unlock(ivl_numa_mutex *mutex)
{
	if (!ivl_numa_mutex_is_mine(mutex))
		return EPERM;
	atomic_store_explicit(&mutex->owner, 0, memory_order_relaxed);
	ivl_cohort_unlock(&mutex->lock);
	return 0;
}
