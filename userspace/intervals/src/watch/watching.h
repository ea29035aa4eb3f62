/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of watch/ share. */
#ifndef IVL_WATCHING_H
#define IVL_WATCHING_H

#include "atomics.h"
#include "watch/view.h"
#include "watch/watch.h"

/* Of a worker; its thread's alone, where nothing else is said. */
struct ivl_watch {
	struct ivl_lane *lane;		/* NULL: there is no trace */
	_Atomic(uint32_t) track;	/* its thread's; thieves read it */
	unsigned int open;		/* slices that have begun and not ended there */
	uint64_t number;		/* its own, in the upper half */
	uint64_t tasks, steals;
	struct ivl_view_counts counts;
};

/* Slices on the line of its thread. */
void ivl_slice_begin(struct ivl_worker *worker, const char *name, const char *fact,
		     uint64_t value);
void ivl_slices_end(struct ivl_worker *worker, unsigned int count);
/* Those of a task, and of all that are below it on its fiber. */
void ivl_slices_begin_again(struct ivl_worker *worker, const struct ivl_watched *task);

/* tasks.c: the calling task, or thread outside of any, as far as it has come. */
struct ivl_span ivl_span_here(void);
/* It has waited for something that ended there. */
void ivl_span_joined(const struct ivl_span *span);
/* The task that the caller begins to run, from where the longest path to it ends; and ends. */
void ivl_task_watched(struct ivl_watched *task, const char *name, const struct ivl_span *from);
void ivl_task_over(struct ivl_watched *task);
/* In the child of a fork(). */
void ivl_tasks_forget(void);

/* graph.c: as ivl_span_reach(), of what several may reach at a time. */
void ivl_reach(struct ivl_span *at, const struct ivl_span *from);
/* In the child of a fork(). */
void ivl_graph_forget(void);

#endif
