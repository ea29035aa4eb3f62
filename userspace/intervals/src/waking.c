// SPDX-License-Identifier: LGPL-2.1-or-later
#include "waking.h"

#include <futex.h>

#include "fence.h"
#include "run_queue.h"
#include "external.h"

static bool wake_one(struct ivl_sleepers *sleepers)
{
	return atomic_load_explicit(&sleepers->asleep, memory_order_relaxed) != 0 &&
		ivl_eventcount_notify(&sleepers->eventcount, 1);
}

/*
 * A searcher here will see the work, and wakes the next for what it leaves. Pairs with the fence
 * after it stops searching.
 */
static bool search_here(struct ivl_place_state *state)
{
	return atomic_load_explicit(&state->searching, memory_order_relaxed) != 0 ||
		wake_one(&state->sleepers);
}

static bool search_from_leaf(ivl_runtime *runtime, const struct ivl_place *leaf)
{
	const unsigned int leaves = runtime->topology->leaf_count;

	if (search_here(&runtime->place_states[leaf->index]))
		return true;
	for (unsigned int i = 1; i < leaves && runtime->config.cross_place; i++)
		if (wake_one(&runtime->place_states[(leaf->index + i) % leaves].sleepers))
			return true;
	return false;
}

static bool search_from_inner(ivl_runtime *runtime, const struct ivl_place *place)
{
	const struct ivl_topology *topology = runtime->topology;

	for (unsigned int i = 0; i < topology->leaf_count; i++)
		if (ivl_place_is_inside(&topology->leaves[i], place) &&
		    search_here(&runtime->place_states[i]))
			return true;
	return runtime->config.cross_place && place->outer &&
		search_from_inner(runtime, place->outer);
}

/* A tied worker sleeps alone. Prefer one of this place. */
static bool wake_tied(ivl_runtime *runtime, const struct ivl_place *place)
{
	const unsigned int workers = runtime->topology->workers;

	for (int near = 1; near >= !runtime->config.cross_place; near--)
		for (unsigned int i = 0; i < workers; i++)
			if (ivl_place_is_inside(runtime->workers[i].place, place) == near &&
			    wake_one(&runtime->tied_workers[i].sleepers))
				return true;
	return false;
}

void ivl_idle_wake(ivl_runtime *runtime, const struct ivl_place *place)
{
	ivl_fence(memory_order_seq_cst);
	if (place->index == IVL_INNER ? search_from_inner(runtime, place) :
					search_from_leaf(runtime, place))
		return;
	if (runtime->tied_workers && wake_tied(runtime, place))
		return;
	for (struct ivl_external *ext = ivl_externals(runtime); ext; ext = ext->next) {
		if (ivl_external_reaches(ext, place) && wake_one(&ext->own.sleepers))
			return;
	}
	/* A worker that goes to sleep after this load sees the work. */
	if (runtime->threadless &&
	    (uint32_t)atomic_load_explicit(&runtime->attention, memory_order_relaxed) ==
		    atomic_load_explicit(&runtime->all_asleep, memory_order_relaxed))
		ivl_externals_wake_one(runtime);
}

void ivl_idle_wake_for_all(struct ivl_worker *worker)
{
	ivl_runtime *runtime = worker->runtime;

	ivl_idle_wake(runtime, worker->place);
	/* With cross_place any worker may have been woken. */
	for (const struct ivl_place *around = worker->place->outer;
	     around && !runtime->config.cross_place; around = around->outer)
		if (ivl_place_has_mail(&runtime->place_states[around->number]))
			ivl_idle_wake(runtime, around);
}

int ivl_idle_wake_near(struct ivl_worker *worker)
{
	if ((uint32_t)atomic_load_explicit(&worker->runtime->attention, memory_order_relaxed))
		ivl_idle_wake(worker->runtime, worker->place);
	return 0;
}

void ivl_submitted_remove(ivl_runtime *runtime)
{
	/* Release, to ivl_submitted_await(): what the interval wrote. */
	if (atomic_fetch_sub_explicit(&runtime->submitted, 2, memory_order_release) == 3)
		ivl_futex_wake(&runtime->submitted, 1);
}

void ivl_submitted_await(ivl_runtime *runtime)
{
	uint32_t left = atomic_fetch_or_explicit(&runtime->submitted, 1, memory_order_acquire) | 1;

	while (left != 1) {
		ivl_futex_wait(&runtime->submitted, left);
		left = atomic_load_explicit(&runtime->submitted, memory_order_acquire);
	}
}
