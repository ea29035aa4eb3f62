/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file
 * NUMA-aware locks, condition variables and barriers, for tasks and for threads (NUMA thesis,
 * section 6.3: pthread_NUMA_mutex_init() there is ivl_numa_mutex_init() here). While a task waits,
 * its worker runs other tasks.
 *
 * The parts of an object that callers of one node use are in that node's memory and pass from
 * caller to caller of that node as far as fairness allows. A task counts as on the node of its
 * worker's place, a thread on that of its CPU.
 *
 * Functions return 0 or an errno value. All objects belong to one process; an object must not be
 * used after it was destroyed.
 */
#ifndef INTERVALS_SYNC_H
#define INTERVALS_SYNC_H

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/** One owner at a time, a task or thread. */
typedef struct ivl_numa_mutex ivl_numa_mutex;
/** One writer or many readers at a time. */
typedef struct ivl_numa_rwlock ivl_numa_rwlock;
/** Wait for a condition under a mutex. */
typedef struct ivl_numa_cond ivl_numa_cond;
/** A rendezvous of tasks and threads. */
typedef struct ivl_numa_barrier ivl_numa_barrier;

/**
 * @defgroup ivl_numa_mutex_group Mutex
 * A cohort mutex (Dice, Marathe and Shavit, PPoPP 2012): one lock per node, and one between the
 * nodes. Each is granted in FIFO order, and the mutex passes at most IVL_NUMA_LOCAL_PASSES times
 * between callers of one node while another node waits. Its owner is the task or thread that locked
 * it. A spawned child is another task than its spawner, even if ivl_sync() calls it. If a task ends
 * without unlocking it, no other task becomes the owner.
 * @{
 */

/** Hand-overs on one node before another node's turn. */
#define IVL_NUMA_LOCAL_PASSES 64

/** Create an unlocked mutex. ENOMEM. */
int ivl_numa_mutex_init(ivl_numa_mutex **mutex);
/** Free it. EBUSY: it is locked. */
int ivl_numa_mutex_destroy(ivl_numa_mutex *mutex);
/** Wait until the caller owns it. EDEADLK: the caller owns it already. */
int ivl_numa_mutex_lock(ivl_numa_mutex *mutex);
/** Lock it if that needs no waiting. EBUSY: it is locked. */
int ivl_numa_mutex_trylock(ivl_numa_mutex *mutex);
/** Pass it to the next waiter. EPERM: the caller does not own it. */
int ivl_numa_mutex_unlock(ivl_numa_mutex *mutex);

/** @} */

/**
 * @defgroup ivl_numa_rwlock_group Readers and writers
 * All come in the order of an ivl_numa_mutex: neither side starves. A reader must not lock again.
 * @{
 */

/** Create an unlocked one. ENOMEM. */
int ivl_numa_rwlock_init(ivl_numa_rwlock **lock);
/** Free it. EBUSY: it is locked. */
int ivl_numa_rwlock_destroy(ivl_numa_rwlock *lock);
/** Wait until the caller is a reader. EDEADLK: it is the writer. */
int ivl_numa_rwlock_rdlock(ivl_numa_rwlock *lock);
/** Read if that needs no waiting. EBUSY: there is a writer, or a reader is just coming. */
int ivl_numa_rwlock_tryrdlock(ivl_numa_rwlock *lock);
/** Wait until the caller is the writer. EDEADLK: it is already. */
int ivl_numa_rwlock_wrlock(ivl_numa_rwlock *lock);
/** Write if that needs no waiting. EBUSY: it is locked, or a reader is just coming. */
int ivl_numa_rwlock_trywrlock(ivl_numa_rwlock *lock);
/** Leave: the writer, or for any reader, one. EPERM: there is no reader, nor is the caller it. */
int ivl_numa_rwlock_unlock(ivl_numa_rwlock *lock);

/** @} */

/**
 * @defgroup ivl_numa_cond_group Condition variable
 * @{
 */

/** Create a condition variable without waiters. ENOMEM. */
int ivl_numa_cond_init(ivl_numa_cond **cond);
/** Free it. EBUSY: it has waiters. */
int ivl_numa_cond_destroy(ivl_numa_cond *cond);
/**
 * Unlock the mutex and wait, in one atomic step with respect to signals; then lock it again. It
 * returns only after a signal, but the condition may have changed by then: check it again. EPERM:
 * the caller does not own the mutex.
 */
int ivl_numa_cond_wait(ivl_numa_cond *cond, ivl_numa_mutex *mutex);
/**
 * Move one waiter, or all, to the queue of the mutex: each wakes when it owns the mutex, so none
 * wakes only to wait again. A signal prefers a waiter on the caller's node; after
 * IVL_NUMA_LOCAL_PASSES such signals it goes to another node. The caller need not own the mutex.
 * Always returns 0.
 */
int ivl_numa_cond_signal(ivl_numa_cond *cond);
/** As ivl_numa_cond_signal(), for all waiters. */
int ivl_numa_cond_broadcast(ivl_numa_cond *cond);

/** @} */

/**
 * @defgroup ivl_numa_barrier_group Barrier
 * @{
 */

/**
 * Create a reusable barrier for `count` callers; never let more than `count` use it at a time.
 * EINVAL: the count is 0. ENOMEM.
 */
int ivl_numa_barrier_init(ivl_numa_barrier **barrier, unsigned int count);
/** Free it. EBUSY: a caller has not yet left ivl_numa_barrier_wait(). */
int ivl_numa_barrier_destroy(ivl_numa_barrier *barrier);
/** Returned to one of the callers of ivl_numa_barrier_wait(); not an errno value. */
#define IVL_NUMA_BARRIER_SERIAL (-1)
/**
 * Wait until `count` callers have arrived. What each wrote before is visible to all afterwards.
 * Returns IVL_NUMA_BARRIER_SERIAL to the last one, 0 to the rest.
 */
int ivl_numa_barrier_wait(ivl_numa_barrier *barrier);

/** @} */

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
