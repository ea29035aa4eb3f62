/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file
 * Mutexes, condition variables and barriers that know of NUMA nodes, for tasks and
 * for threads (NUMA thesis, section 6.3: pthread_NUMA_mutex_init() there is
 * ivl_numa_mutex_init() here). A task that waits leaves its worker to other tasks.
 *
 * The parts that the callers of one node use lie on that node, and go from caller to
 * caller of that node as far as fairness allows. Who is where: a task is on the node
 * of its worker's place, a thread on that of its CPU.
 *
 * Functions return 0 or an errno value. All objects are for one process; none may be
 * destroyed twice or used afterwards.
 */
#ifndef INTERVALS_SYNC_H
#define INTERVALS_SYNC_H

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/** One owner at a time, a task or thread. */
typedef struct ivl_numa_mutex ivl_numa_mutex;
/** Wait for what somebody else does under a mutex. */
typedef struct ivl_numa_cond ivl_numa_cond;
/** Wait for each other. */
typedef struct ivl_numa_barrier ivl_numa_barrier;

/**
 * @defgroup ivl_numa_mutex_group Mutex
 *
 * A cohort mutex (Dice, Marathe and Shavit, PPoPP 2012): one lock per node, and one
 * between the nodes. Each is handed to who waits longest, and the mutex goes at most
 * IVL_NUMA_LOCAL_PASSES times from one caller of a node to the next while another
 * node waits. Its owner is the task or thread that locked it, and a spawned child is
 * another task than its spawner, also where ivl_sync() calls it. A task that ends without having
 * unlocked it leaves it to nobody in particular.
 * @{
 */

/** Hand-overs on one node before another node's turn. */
#define IVL_NUMA_LOCAL_PASSES 64

/** A mutex that nobody owns. ENOMEM. */
int ivl_numa_mutex_init(ivl_numa_mutex **mutex);
/** Give its memory back. EBUSY: it is locked. */
int ivl_numa_mutex_destroy(ivl_numa_mutex *mutex);
/** Wait until the caller owns it. EDEADLK: it does already. */
int ivl_numa_mutex_lock(ivl_numa_mutex *mutex);
/** Own it if that needs no waiting. EBUSY: somebody owns it. */
int ivl_numa_mutex_trylock(ivl_numa_mutex *mutex);
/** Give it to the next that waits. EPERM: the caller does not own it. */
int ivl_numa_mutex_unlock(ivl_numa_mutex *mutex);

/** @} */

/**
 * @defgroup ivl_numa_cond_group Condition variable
 * @{
 */

/** One for which nobody waits. ENOMEM. */
int ivl_numa_cond_init(ivl_numa_cond **cond);
/** Give its memory back. EBUSY: somebody waits. */
int ivl_numa_cond_destroy(ivl_numa_cond *cond);
/**
 * Unlock the mutex and wait, as one step for who signals; then lock it again. It
 * returns after a signal only, but what was waited for may be over by then: look
 * again. EPERM: the caller does not own the mutex.
 */
int ivl_numa_cond_wait(ivl_numa_cond *cond, ivl_numa_mutex *mutex);
/**
 * One that waits, or all, go to wait for the mutex: each wakes when it owns it, so
 * that nobody wakes to wait again. A signal is for the caller's node first, but goes
 * to another one that waits after IVL_NUMA_LOCAL_PASSES that did not. The caller need
 * not own the mutex. Always 0.
 */
int ivl_numa_cond_signal(ivl_numa_cond *cond);
/** As ivl_numa_cond_signal(), for all that wait. */
int ivl_numa_cond_broadcast(ivl_numa_cond *cond);

/** @} */

/**
 * @defgroup ivl_numa_barrier_group Barrier
 * @{
 */

/**
 * For `count` callers, again and again; never for more than so many at a time. EINVAL:
 * the count is 0. ENOMEM.
 */
int ivl_numa_barrier_init(ivl_numa_barrier **barrier, unsigned int count);
/** Give its memory back. EBUSY: somebody is in ivl_numa_barrier_wait(), if only on the way out. */
int ivl_numa_barrier_destroy(ivl_numa_barrier *barrier);
/** What ivl_numa_barrier_wait() returns to one of its callers; no errno value. */
#define IVL_NUMA_BARRIER_SERIAL (-1)
/**
 * Wait until `count` have called it. What each wrote before is seen by all after.
 * Returns IVL_NUMA_BARRIER_SERIAL to the one who came last, 0 to the others.
 */
int ivl_numa_barrier_wait(ivl_numa_barrier *barrier);

/** @} */

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
