// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A signalled waiter moves from the condition variable's list to the mutex's queue and wakes up as
 * the owner of the mutex: each wake-up is a hand-off, and a broadcast wakes no waiter that would
 * block on the mutex.
 *
 * The lists have locks of their own, since a signal may come without the mutex. They are held only
 * while waiters are linked.
 */
#include <errno.h>

#include "sync/mutex.h"

struct cond_waiter {
	struct ivl_sleeper sleeper;
	struct ivl_cohort *cohort;	/* of the mutex, whose queue it will enter */
	struct cond_waiter *next;
};

/* Waiters of one node, in FIFO order. */
struct cond_node {
	struct ivl_guard_queue lock;
	struct cond_waiter *first, **last;
	/* Read without the lock: 0 avoids taking it. */
	_Atomic(unsigned int) count;
	/* Consecutive signals from this node that stayed here. */
	_Atomic(unsigned int) passes;
};

struct ivl_numa_cond {
	struct ivl_sync_object object;	/* with a struct cond_node per node */
};

static struct cond_node *list_of(ivl_numa_cond *cond, unsigned int node)
{
	return cond->object.parts[node];
}

int ivl_numa_cond_init(ivl_numa_cond **result)
{
	ivl_numa_cond *cond = ivl_sync_create(sizeof(*cond), sizeof(struct cond_node));

	if (!cond)
		return ENOMEM;
	for (unsigned int i = 0; i < cond->object.nodes; i++) {
		struct cond_node *list = list_of(cond, i);

		ivl_guard_queue_init(&list->lock);
		list->first = NULL;
		list->last = &list->first;
		atomic_init(&list->count, 0);
		atomic_init(&list->passes, 0);
	}
	*result = cond;
	return 0;
}

int ivl_numa_cond_destroy(ivl_numa_cond *cond)
{
	for (unsigned int i = 0; i < cond->object.nodes; i++)
		if (atomic_load_explicit(&list_of(cond, i)->count, memory_order_relaxed))
			return EBUSY;
	ivl_sync_destroy(cond);
	return 0;
}

static void list_append(struct cond_node *list, struct cond_waiter *waiter)
{
	ivl_fifo_lock(&list->lock);
	waiter->next = NULL;
	*list->last = waiter;
	list->last = &waiter->next;
	/* Relaxed: a signal that must see it comes after the mutex's unlock. */
	atomic_fetch_add_explicit(&list->count, 1, memory_order_relaxed);
	ivl_fifo_unlock(&list->lock);
}

/* Take up to `most` waiters; NULL: there is none. */
static struct cond_waiter *list_take(struct cond_node *list, unsigned int most)
{
	struct cond_waiter *first, **end;
	unsigned int taken;

	if (!atomic_load_explicit(&list->count, memory_order_relaxed))
		return NULL;
	ivl_fifo_lock(&list->lock);
	first = list->first;
	end = &list->first;
	for (taken = 0; taken < most && *end; taken++)
		end = &(*end)->next;
	list->first = *end;
	if (!list->first)
		list->last = &list->first;
	*end = NULL;
	atomic_fetch_sub_explicit(&list->count, taken, memory_order_relaxed);
	ivl_fifo_unlock(&list->lock);
	return taken ? first : NULL;
}

/* To the mutex's queue; if the mutex is free the waiter owns it, and wakes. */
static void requeue(struct cond_waiter *waiter)
{
	struct ivl_sleeper *sleeper = &waiter->sleeper;

	if (ivl_guard_queue_enter(&waiter->cohort->queue, &sleeper->node))
		ivl_unpark(&sleeper->parker);
}

int ivl_numa_cond_wait(ivl_numa_cond *cond, ivl_numa_mutex *mutex)
{
	const unsigned int node = ivl_sync_node(cond->object.nodes);
	struct cond_waiter me = { .cohort = mutex->object.parts[node] };

	if (!ivl_numa_mutex_is_mine(mutex))
		return EPERM;
	ivl_parker_init(&me.sleeper.parker);
	list_append(list_of(cond, node), &me);
	ivl_numa_mutex_unlock(mutex);
	ivl_park(&me.sleeper.parker);
	ivl_cohort_enter(&mutex->lock, me.cohort);
	ivl_numa_mutex_own(mutex);
	return 0;
}

int ivl_numa_cond_signal(ivl_numa_cond *cond)
{
	const unsigned int here = ivl_sync_node(cond->object.nodes);
	_Atomic(unsigned int) *passes = &list_of(cond, here)->passes;
	unsigned int stayed = atomic_load_explicit(passes, memory_order_relaxed);
	/* On another node's turn, this one comes last. */
	const unsigned int first = stayed < IVL_NUMA_LOCAL_PASSES ? 0 : 1;

	for (unsigned int i = first; i < first + cond->object.nodes; i++) {
		const unsigned int node = (here + i) % cond->object.nodes;
		struct cond_waiter *waiter = list_take(list_of(cond, node), 1);

		if (waiter) {
			atomic_store_explicit(passes, node == here && !first ? stayed + 1 : 0,
					      memory_order_relaxed);
			requeue(waiter);
			break;
		}
	}
	return 0;
}

int ivl_numa_cond_broadcast(ivl_numa_cond *cond)
{
	struct cond_waiter *all = NULL, **end = &all;

	/* Empty all lists first: the first waiter to wake may destroy the condition variable. */
	for (unsigned int i = 0; i < cond->object.nodes; i++) {
		*end = list_take(list_of(cond, i), ~0u);
		while (*end)
			end = &(*end)->next;
	}
	while (all) {
		struct cond_waiter *waiter = all;

		all = waiter->next;
		requeue(waiter);
	}
	return 0;
}
