/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files of watch/. */
#ifndef IVL_WATCHING_H
#define IVL_WATCHING_H

#include "atomics.h"
#include "watch/view.h"
#include "watch/watch.h"

/* Of a worker; used by its thread only unless stated. */
struct ivl_watch {
	struct ivl_lane *lane;		/* NULL: no trace */
	_Atomic(uint32_t) track;	/* of its thread; thieves read it */
	unsigned int open;		/* open slices on it */
	uint64_t number;		/* unique, in the upper half */
	uint64_t tasks, steals;
	struct ivl_view_counts counts;
};

/* Slices on its thread's track. */
void ivl_slice_begin(struct ivl_worker *worker, const char *name, const char *fact,
		     uint64_t value);
void ivl_slices_end(struct ivl_worker *worker, unsigned int count);
/* Of a task and the tasks below it on its fiber. */
void ivl_slices_begin_again(struct ivl_worker *worker, const struct ivl_watched *task);

/* tasks.c: the path of the calling task or foreign thread. */
struct ivl_span ivl_span_here(void);
/* The caller has waited for something that ended at `span`. */
void ivl_span_joined(const struct ivl_span *span);
/* The caller begins to run a task, whose longest path so far is `from`; ends it. */
void ivl_task_watched(struct ivl_watched *task, const char *name, const struct ivl_span *from);
void ivl_task_over(struct ivl_watched *task);
/* In the child of a fork(). */
void ivl_tasks_forget(void);

/* graph.c: ivl_span_reach() for concurrent callers. */
void ivl_reach(struct ivl_span *at, const struct ivl_span *from);
/* In the child of a fork(). */
void ivl_graph_forget(void);

#endif
