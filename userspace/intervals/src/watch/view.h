/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Work and span of a program (INTERVALS_VIEW; the command intervals-view), as in Cilkview (He,
 * Leiserson and Leiserson, SPAA 2010).
 *
 * A strand is what a task does between two synchronisations. It extends the longest path to its
 * begin by its time. A child begins with its spawner's path; after a sync, a finish or a join the
 * path is the longest of those that meet. Only path ends are kept, so memory does not grow with the
 * graph.
 */
#ifndef IVL_VIEW_H
#define IVL_VIEW_H

#include <stdbool.h>

#include "watch/span.h"
#include "watch/watch.h"

/* Returns 0, and whether it is wanted; or an errno value with ivl_last_error(). */
int ivl_view_open(bool *wanted);
/* The process wants it. */
bool ivl_viewing(void);
/* In the child of a fork(). */
void ivl_view_forget(void);

/* One worker's counts, written by its thread only. */
struct ivl_view_counts {
	struct ivl_view_counts *next;
	uint64_t work_ns, tasks;
	struct ivl_span longest;
};
void ivl_view_add(struct ivl_view_counts *counts);
/* Adds them to the sum. */
void ivl_view_remove(struct ivl_view_counts *counts);

/* Total time of a guard: the longest path inside its holders. */
void ivl_view_held(const char *guard, uint64_t ns);

/* Totals of the process so far. */
struct ivl_view {
	uint64_t work_ns, tasks;
	struct ivl_span span;
	uint64_t held_ns;		/* of the guard held longest */
	char held[128];
};
void ivl_view_read(struct ivl_view *view);

/* The task starts or stops running on the calling worker. */
void ivl_view_go(struct ivl_watched *task);
void ivl_view_stop(struct ivl_watched *task, struct ivl_view_counts *counts);

#endif
