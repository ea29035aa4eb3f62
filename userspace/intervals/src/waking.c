// SPDX-License-Identifier: LGPL-2.1-or-later
#include "waking.h"

#include "fence.h"
#include "seat.h"

static bool wake_one(struct ivl_sleepers *sleepers)
{
	return atomic_load_explicit(&sleepers->asleep, memory_order_relaxed) != 0 &&
		ivl_eventcount_notify(&sleepers->eventcount, 1);
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
	if (atomic_load_explicit(&hall->searching, memory_order_relaxed) != 0 ||
	    wake_one(&hall->sleepers))
		return;
	for (unsigned int i = 1; i < halls && runtime->config.cross_place; i++) {
		if (wake_one(&runtime->halls[(place->index + i) % halls].sleepers))
			return;
	}
	for (struct ivl_seat *seat = ivl_seats(runtime); seat; seat = seat->next) {
		if (ivl_seat_near(seat, place) && wake_one(&seat->sleepers))
			return;
	}
}

int ivl_idle_wake_near(struct ivl_worker *worker)
{
	if ((uint32_t)atomic_load_explicit(&worker->runtime->attention, memory_order_relaxed))
		ivl_idle_wake(worker->runtime, worker->place);
	return 0;
}
