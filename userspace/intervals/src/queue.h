/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The interface of all queues (thesis, Listing 9.1). A queue's owner, a worker, puts and takes;
 * other threads steal. For IVL_QUEUE_SHARED any thread may call everything.
 */
#ifndef IVL_QUEUE_H
#define IVL_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "intervals.h"
#include "tunables.h"

struct ivl_queue_base;

enum ivl_steal {
	IVL_STOLEN,
	IVL_EMPTY,		/* it was empty for a moment */
	IVL_LOST,		/* lost a race: there may be more */
};

struct ivl_queue_ops {
	const char *name;
	/* An element may come out twice; the caller uses tickets (ticket.h). */
	bool at_least_once;
	/* One queue for all workers. */
	bool shared;
	/* In the memory of a NUMA node (-1: any). NULL: ENOMEM. */
	struct ivl_queue_base *(*create)(size_t capacity, int node);
	/* No other thread may use it any more. */
	void (*destroy)(struct ivl_queue_base *queue);
	/* Owner. 0, or ENOMEM with nothing changed. */
	int (*put)(struct ivl_queue_base *queue, void *element);
	/* Owner. NULL: empty. */
	void *(*take)(struct ivl_queue_base *queue);
	/* Any thread. */
	enum ivl_steal (*steal)(struct ivl_queue_base *queue, void **element);
	/* Any thread; the number may be out of date. */
	size_t (*size)(const struct ivl_queue_base *queue);
};

/* In the order of enum ivl_queue. */
extern const struct ivl_queue_ops *const ivl_queue_kinds[IVL_QUEUES];

extern const struct ivl_queue_ops ivl_chase_lev_ops;
extern const struct ivl_queue_ops ivl_lazy_ops;
extern const struct ivl_queue_ops ivl_idempotent_lifo_ops;
extern const struct ivl_queue_ops ivl_idempotent_fifo_ops;
extern const struct ivl_queue_ops ivl_idempotent_deque_ops;
extern const struct ivl_queue_ops ivl_dynamic_ops;
extern const struct ivl_queue_ops ivl_duplicating_ops;
extern const struct ivl_queue_ops ivl_shared_ops;

#endif
