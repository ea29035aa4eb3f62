/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waking workers for published work; idle.c has the protocol. */
#ifndef IVL_WAKING_H
#define IVL_WAKING_H

#include "worker.h"

/* Make sure that a worker is awake that can take work of this place. */
void ivl_idle_wake(ivl_runtime *runtime, const struct ivl_place *place);
/* The same for all work that the given worker could take. */
void ivl_idle_wake_for_all(struct ivl_worker *worker);
/* The same for the worker's place, if any worker sleeps; returns 0. */
int ivl_idle_wake_near(struct ivl_worker *worker);

/*
 * Called by a thread before it makes work ready; ivl_submit_end() when it has looked for a sleeper.
 * The work may end the runtime in between. A runtime's own threads need not be counted: ivl_stop()
 * joins them. Returns true if the caller was counted.
 */
static inline bool ivl_submit_begin(ivl_runtime *runtime)
{
	const struct ivl_worker *worker = ivl_self();

	if (worker && worker->runtime == runtime)
		return false;
	/* Relaxed: a thread that finds the work sees this, too. */
	atomic_fetch_add_explicit(&runtime->submitters, 1, memory_order_relaxed);
	return true;
}

/* The runtime may be gone when this returns. */
static inline void ivl_submit_end(ivl_runtime *runtime, bool counted)
{
	/* Release, to ivl_stop(). */
	if (counted)
		atomic_fetch_sub_explicit(&runtime->submitters, 1, memory_order_release);
}

/*
 * Intervals of ivl_submit() that have not ended: twice their number, plus 1 when ivl_stop() waits
 * for them. The last one's end wakes it, by a thread that ivl_stop() waits for afterwards.
 */
static inline void ivl_submitted_add(ivl_runtime *runtime)
{
	/* Relaxed: what it submits is made visible by ivl_make_ready(). */
	atomic_fetch_add_explicit(&runtime->submitted, 2, memory_order_relaxed);
}

void ivl_submitted_remove(ivl_runtime *runtime);
void ivl_submitted_await(ivl_runtime *runtime);

#endif
