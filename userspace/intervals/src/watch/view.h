/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Work and span of a program (INTERVALS_VIEW; the command intervals-view), as Cilkview tells
 * them (He, Leiserson and Leiserson, SPAA 2010).
 *
 * What a task does between two moments where it meets others is a strand. It begins where the
 * longest path to it ends, and makes that longer by its time. A child begins where its
 * spawner is; behind a sync, a finish or a join is the longest of what has come together
 * there. Nothing is kept but these ends, so memory does not grow with the graph.
 */
#ifndef IVL_VIEW_H
#define IVL_VIEW_H

#include <stdbool.h>

#include "watch/span.h"
#include "watch/watch.h"

/* Does the environment ask for it? 0, or an errno value, and ivl_last_error() says why. */
int ivl_view_open(bool *wanted);
/* The process has asked for it. */
bool ivl_viewing(void);
/* In the child of a fork(). */
void ivl_view_forget(void);

/* What one worker has counted, by its thread alone; others read it. */
struct ivl_view_counts {
	struct ivl_view_counts *next;
	uint64_t work_ns, tasks;
	struct ivl_span longest;
};
void ivl_view_add(struct ivl_view_counts *counts);
/* They are part of the sum from now on. */
void ivl_view_remove(struct ivl_view_counts *counts);

/* A guard was held so long, all in all: the longest path inside of its holders. */
void ivl_view_held(const char *guard, uint64_t ns);

/* All so far, of all runtimes of the process. */
struct ivl_view {
	uint64_t work_ns, tasks;
	struct ivl_span span;
	uint64_t held_ns;		/* of the guard that was held longest */
	char held[128];			/* its name */
};
void ivl_view_read(struct ivl_view *view);

/* The task runs from now on; no longer. Its worker is the caller. */
void ivl_view_go(struct ivl_watched *task);
void ivl_view_stop(struct ivl_watched *task, struct ivl_view_counts *counts);

#endif
