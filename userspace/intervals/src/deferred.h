/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Deferred counts: a worker publishes many counts at once that a context waits for, instead of
 * writing to a shared line for each. It must publish them before it does anything that does not add
 * to them.
 */
#ifndef IVL_DEFERRED_H
#define IVL_DEFERRED_H

#include "scheduler.h"

struct ivl_worker;

/* Counts of one kind, in the worker's list while there is something to publish. */
struct ivl_deferred {
	struct ivl_deferred *next;
	const void *from;		/* the waiting finish or interval; NULL: nothing deferred */
	/* Publish and remove from the list. `leaves`: as in struct ivl_batch (model.h). */
	void (*tell)(struct ivl_worker *worker, bool leaves);
};

/* Begin to defer counts of this kind for `from`. */
static inline void ivl_defer(struct ivl_deferred **list, struct ivl_deferred *counts,
			     const void *from, void (*tell)(struct ivl_worker *worker, bool leaves))
{
	counts->from = from;
	counts->tell = tell;
	counts->next = *list;
	*list = counts;
}

/* The counts have been published. */
void ivl_deferred_remove(struct ivl_deferred **list, struct ivl_deferred *counts);

/* What waits for this work; NULL: nothing that takes deferred counts. */
static inline const void *ivl_awaited_by(const struct ivl_work *work)
{
	const size_t at = work->kind->awaited_by;

	return at ? *(void *const *)((const char *)work + at) : NULL;
}

/* Publish all counts of the worker's list but those for `one`. True: something was published. */
bool ivl_flush_deferred_except(struct ivl_deferred *list, struct ivl_worker *worker,
			       const void *one, bool leaves);

/*
 * Before the worker runs `work`, or sleeps (NULL): publish its deferred counts, except those that
 * `work` adds to. True: something was published, and a waiter may be ready. `leaves`: the caller
 * looks at ivl_take_next() first, where such a waiter is.
 */
static inline bool ivl_flush_deferred(struct ivl_deferred *list, struct ivl_worker *worker,
				      const struct ivl_work *work, bool leaves)
{
	const void *awaited_by;

	if (!list)
		return false;
	awaited_by = work ? ivl_awaited_by(work) : NULL;
	if (list->from == awaited_by && !list->next)
		return false;
	return ivl_flush_deferred_except(list, worker, awaited_by, leaves);
}

#endif
