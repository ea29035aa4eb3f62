/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The one interface of all queues (thesis, Listing 9.1). A queue has an owner,
 * the worker that puts and takes; all others steal. IVL_QUEUE_SHARED has no
 * owner: everybody may call everything.
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
	IVL_EMPTY,		/* there was a moment without an element */
	IVL_LOST,		/* lost a race: there may be more */
};

struct ivl_queue_ops {
	const char *name;
	/* May an element come out twice? Then the caller wraps elements (ticket.h). */
	bool at_least_once;
	/* One queue for all workers? */
	bool shared;
	/* A new queue in the memory of a NUMA node (-1: any); NULL: ENOMEM. */
	struct ivl_queue_base *(*create)(size_t capacity, int node);
	/* Nobody else may use it any more. */
	void (*destroy)(struct ivl_queue_base *queue);
	/* Owner. 0, or ENOMEM where it must grow and cannot: then nothing has changed. */
	int (*put)(struct ivl_queue_base *queue, void *element);
	/* Owner. NULL: empty. */
	void *(*take)(struct ivl_queue_base *queue);
	/* Any thread. */
	enum ivl_steal (*steal)(struct ivl_queue_base *queue, void **element);
	/* Any thread: how many elements there are, or were a moment ago. */
	size_t (*size)(const struct ivl_queue_base *queue);
};

/* The queues' tables by kind, in the order of enum ivl_queue. */
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
