// SPDX-License-Identifier: LGPL-2.1-or-later
#include "waking.h"

#include "fence.h"

/* Wake one who sleeps at this place. */
static bool wake_at(struct ivl_hall *hall)
{
	return atomic_load_explicit(&hall->asleep, memory_order_relaxed) != 0 &&
		ivl_eventcount_notify(&hall->eventcount, 1);
}

void ivl_idle_wake(ivl_runtime *runtime, const struct ivl_place *place)
{
	const unsigned int halls = runtime->topology->leaf_count;
	struct ivl_hall *hall = &runtime->halls[place->index];

	/*
	 * Who searches here will see the work, and wakes the next when it
	 * takes some. Pairs with the barrier after it stops searching.
	 */
	ivl_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&hall->searching, memory_order_relaxed) != 0 || wake_at(hall) ||
	    !runtime->config.cross_place)
		return;
	for (unsigned int i = 1; i < halls; i++) {
		if (wake_at(&runtime->halls[(place->index + i) % halls]))
			return;
	}
}

int ivl_idle_wake_near(struct ivl_worker *worker)
{
	if ((uint32_t)atomic_load_explicit(&worker->runtime->attention, memory_order_relaxed))
		ivl_idle_wake(worker->runtime, worker->place);
	return 0;
}
