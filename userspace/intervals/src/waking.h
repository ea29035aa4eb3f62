/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who puts work where others can find it has them awake; idle.c has the protocol. */
#ifndef IVL_WAKING_H
#define IVL_WAKING_H

#include "worker.h"

/* Somebody who can get at work put at this place should be awake. */
void ivl_idle_wake(ivl_runtime *runtime, const struct ivl_place *place);
/* As the above for all work that the worker could get at. */
void ivl_idle_wake_for_all(struct ivl_worker *worker);
/* As ivl_idle_wake() for the worker's place, where somebody is asleep at all; 0. */
int ivl_idle_wake_near(struct ivl_worker *worker);

/*
 * Before a thread makes work ready, and after it has looked for somebody to wake for it: who
 * does the work may be the one that ends the runtime. Of the runtime's own threads ivl_stop()
 * waits for the end anyway. True: it visits, and is to leave.
 */
static inline bool ivl_submit_begin(ivl_runtime *runtime)
{
	const struct ivl_worker *worker = ivl_self();

	if (worker && worker->runtime == runtime)
		return false;
	/* Relaxed: whoever finds the work sees this, too. */
	atomic_fetch_add_explicit(&runtime->submitters, 1, memory_order_relaxed);
	return true;
}

/* The runtime may be gone after it. */
static inline void ivl_submit_end(ivl_runtime *runtime, bool counted)
{
	/* Release, to ivl_stop(). */
	if (counted)
		atomic_fetch_sub_explicit(&runtime->submitters, 1, memory_order_release);
}

#endif
