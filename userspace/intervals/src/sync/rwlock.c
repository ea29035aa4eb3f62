// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Readers and writers come through one mutex, which gives them their order: a reader passes through
 * it; a writer keeps it, and waits for the readers that came before.
 */
#include <errno.h>
#include <stdlib.h>

#include "sync/mutex.h"
#include "tunables.h"

/* Part of `readers` while a writer waits for them, or owns the lock. */
#define WRITER ((int64_t)1 << 62)

struct ivl_numa_rwlock {
	ivl_numa_mutex *turn;
	_Alignas(IVL_LINE) _Atomic(int64_t) readers;
	struct ivl_parker drained;		/* the writer, until the last reader leaves */
};

int ivl_numa_rwlock_init(ivl_numa_rwlock **result)
{
	ivl_numa_rwlock *lock = aligned_alloc(IVL_LINE, sizeof(*lock));

	if (!lock)
		return ENOMEM;
	if (ivl_numa_mutex_init(&lock->turn)) {
		free(lock);
		return ENOMEM;
	}
	atomic_init(&lock->readers, 0);
	ivl_parker_init(&lock->drained);
	*result = lock;
	return 0;
}

int ivl_numa_rwlock_destroy(ivl_numa_rwlock *lock)
{
	/* Acquire, from unlock: its last reader no longer touches it. */
	if (atomic_load_explicit(&lock->readers, memory_order_acquire) ||
	    ivl_numa_mutex_destroy(lock->turn))
		return EBUSY;
	free(lock);
	return 0;
}

/* Relaxed: the turn orders it after each writer before, and before each writer behind. */
static void read_and_pass(ivl_numa_rwlock *lock)
{
	atomic_fetch_add_explicit(&lock->readers, 1, memory_order_relaxed);
	ivl_numa_mutex_unlock(lock->turn);
}

int ivl_numa_rwlock_rdlock(ivl_numa_rwlock *lock)
{
	const int error = ivl_numa_mutex_lock(lock->turn);

	if (!error)
		read_and_pass(lock);
	return error;
}

int ivl_numa_rwlock_tryrdlock(ivl_numa_rwlock *lock)
{
	if (ivl_numa_mutex_trylock(lock->turn))
		return EBUSY;
	read_and_pass(lock);
	return 0;
}

int ivl_numa_rwlock_wrlock(ivl_numa_rwlock *lock)
{
	const int error = ivl_numa_mutex_lock(lock->turn);

	if (error)
		return error;
	ivl_parker_init(&lock->drained);
	/*
	 * Release, to the reader that unparks: the parker. Acquire, from readers that have left: what
	 * they have read is not written before.
	 */
	if (atomic_fetch_add_explicit(&lock->readers, WRITER, memory_order_acq_rel))
		ivl_park(&lock->drained);
	return 0;
}

int ivl_numa_rwlock_trywrlock(ivl_numa_rwlock *lock)
{
	int64_t none = 0;

	if (ivl_numa_mutex_trylock(lock->turn))
		return EBUSY;
	if (atomic_compare_exchange_strong_explicit(&lock->readers, &none, WRITER,
						    memory_order_acquire, memory_order_relaxed))
		return 0;
	ivl_numa_mutex_unlock(lock->turn);
	return EBUSY;
}

/* Release, to a writer; acquire, from the one that waits, and all readers before. */
static int leave_as_reader(ivl_numa_rwlock *lock)
{
	int64_t seen = atomic_load_explicit(&lock->readers, memory_order_relaxed);

	do {
		if (!(seen & (WRITER - 1)))
			return EPERM;
	} while (!atomic_compare_exchange_weak_explicit(&lock->readers, &seen, seen - 1,
							memory_order_acq_rel,
							memory_order_relaxed));
	if (seen == WRITER + 1)
		ivl_unpark(&lock->drained);
	return 0;
}

int ivl_numa_rwlock_unlock(ivl_numa_rwlock *lock)
{
	if (!ivl_numa_mutex_is_mine(lock->turn))
		return leave_as_reader(lock);
	atomic_store_explicit(&lock->readers, 0, memory_order_relaxed);
	return ivl_numa_mutex_unlock(lock->turn);
}
