/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A barrier's protocol. Each caller counts on its own node. The first caller not yet counted
 * globally moves the node's count there, with all that came meanwhile. So the number of callers per
 * node need not be known, and few of many concurrent callers touch the global word.
 */
#ifndef IVL_GATHERING_H
#define IVL_GATHERING_H

#include "eventcount.h"
#include "sync/parker.h"

/* A waiting task. */
struct ivl_gathered {
	struct ivl_parker parker;
	IVL_SHARED(struct ivl_gathered *) next;
};

/* One node's part. */
struct ivl_gathering_node {
	_Atomic(unsigned int) arrived;		/* not yet counted globally */
	_Atomic(unsigned int) inside;		/* callers that have not left, for destroy */
	_Atomic(struct ivl_gathered *) tasks;	/* newest first */
	struct ivl_eventcount threads;
};

struct ivl_gathering {
	_Atomic(unsigned int) arrived;
	/* Incremented when the barrier opens; threads wait for that. */
	_Atomic(unsigned int) generation;
	unsigned int count;
	unsigned int nodes;
	void *const *parts;			/* a struct ivl_gathering_node per node */
};

static inline struct ivl_gathering_node *ivl_gathering_part(struct ivl_gathering *all,
							    unsigned int node)
{
	return (struct ivl_gathering_node *)all->parts[node];
}

static inline void ivl_gathering_node_init(struct ivl_gathering_node *node)
{
	atomic_init(&node->arrived, 0);
	atomic_init(&node->inside, 0);
	atomic_init(&node->tasks, NULL);
	ivl_eventcount_init(&node->threads);
}

static inline void ivl_gathering_init(struct ivl_gathering *all, unsigned int count,
				      void *const *parts, unsigned int nodes)
{
	atomic_init(&all->arrived, 0);
	atomic_init(&all->generation, 0);
	all->count = count;
	all->nodes = nodes;
	all->parts = parts;
	for (unsigned int i = 0; i < nodes; i++)
		ivl_gathering_node_init(ivl_gathering_part(all, i));
}

/* True: the caller is the last. */
static inline bool ivl_gathering_arrive(struct ivl_gathering *all, struct ivl_gathering_node *node)
{
	unsigned int brought;

	/* Release, to the exchange that moves our count: what we wrote. */
	if (atomic_fetch_add_explicit(&node->arrived, 1, memory_order_release))
		return false;
	brought = atomic_exchange_explicit(&node->arrived, 0, memory_order_acquire);
	/* Release and acquire: what all have written, to the last. */
	return atomic_fetch_add_explicit(&all->arrived, brought, memory_order_acq_rel) + brought ==
	       all->count;
}

/* By the last: all other callers wait, or will see that they need not. */
static inline void ivl_gathering_open(struct ivl_gathering *all)
{
	struct ivl_gathered *first = NULL;
	unsigned int generation = atomic_load_explicit(&all->generation, memory_order_relaxed);

	/* Reset before any caller can come for the next generation. */
	atomic_store_explicit(&all->arrived, 0, memory_order_relaxed);
	for (unsigned int i = 0; i < all->nodes; i++) {
		struct ivl_gathering_node *node = ivl_gathering_part(all, i);
		/* Relaxed: by its arrival the last has seen all of the list. */
		struct ivl_gathered *task = atomic_exchange_explicit(&node->tasks, NULL,
								     memory_order_relaxed);

		while (task) {
			struct ivl_gathered *next = task->next;

			task->next = first;
			first = task;
			task = next;
		}
	}
	/* Release, to wait: what all have written. */
	atomic_store_explicit(&all->generation, generation + 1, memory_order_release);
	for (unsigned int i = 0; i < all->nodes; i++)
		ivl_eventcount_notify(&ivl_gathering_part(all, i)->threads, ~0u);
	while (first) {
		struct ivl_gathered *task = first;

		first = task->next;
		ivl_unpark(&task->parker);
	}
}

static inline struct ivl_gathering_node *ivl_gathering_come(struct ivl_gathering *all,
							    unsigned int number)
{
	struct ivl_gathering_node *node = ivl_gathering_part(all, number);

	atomic_fetch_add_explicit(&node->inside, 1, memory_order_relaxed);
	return node;
}

static inline void ivl_gathering_go(struct ivl_gathering_node *node)
{
	/* Release, to empty: we touch it no more. */
	atomic_fetch_sub_explicit(&node->inside, 1, memory_order_release);
}

/* Have all callers left? */
static inline bool ivl_gathering_empty(struct ivl_gathering *all, unsigned int number)
{
	/* Acquire, from go. */
	return !atomic_load_explicit(&ivl_gathering_part(all, number)->inside,
				     memory_order_acquire);
}

/* By a task. True: it was the last. */
static inline bool ivl_gathering_wait_task(struct ivl_gathering *all, unsigned int number)
{
	struct ivl_gathering_node *node = ivl_gathering_come(all, number);
	struct ivl_gathered me, *newest = atomic_load_explicit(&node->tasks, memory_order_relaxed);
	bool last;

	ivl_parker_init(&me.parker);
	/* Relaxed: our arrival releases what the last one reads. */
	do
		me.next = newest;
	while (!atomic_compare_exchange_weak_explicit(&node->tasks, &newest, &me,
						      memory_order_relaxed, memory_order_relaxed));
	last = ivl_gathering_arrive(all, node);
	if (last)
		ivl_gathering_open(all);
	ivl_park(&me.parker);
	ivl_gathering_go(node);
	return last;
}

/* By a foreign thread; all of a node are woken at once. True: it was the last. */
static inline bool ivl_gathering_wait_thread(struct ivl_gathering *all, unsigned int number)
{
	struct ivl_gathering_node *node = ivl_gathering_come(all, number);
	const unsigned int generation = atomic_load_explicit(&all->generation,
							     memory_order_relaxed);
	const bool last = ivl_gathering_arrive(all, node);

	if (last)
		ivl_gathering_open(all);
	/* Acquire, from open. */
	while (atomic_load_explicit(&all->generation, memory_order_acquire) == generation) {
		uint64_t key = ivl_eventcount_prepare(&node->threads);

		if (atomic_load_explicit(&all->generation, memory_order_relaxed) == generation)
			ivl_eventcount_sleep(&node->threads, key);
		else
			ivl_eventcount_cancel(&node->threads);
	}
	ivl_gathering_go(node);
	return last;
}

#endif
