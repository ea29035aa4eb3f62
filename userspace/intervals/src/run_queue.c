// SPDX-License-Identifier: LGPL-2.1-or-later
#include "run_queue.h"

static void tell_length(struct ivl_worker *worker)
{
	if (worker->mask)
		ivl_stealability_update(worker->mask, worker->number,
					(unsigned int)ivl_pool_size(worker->pool));
}

int ivl_put_slowly(struct ivl_worker *worker, struct ivl_work *work)
{
	/* Once queued, the work may run and be gone. */
	const bool spawner = work->kind->spawner;
	int error = ivl_pool_put(worker->pool, work);

	if (error)
		return error;
	ivl_count(worker, puts);
	if (spawner)
		ivl_count(worker, spawners);
	tell_length(worker);
	ivl_idle_wake_near(worker);
	return 0;
}

struct ivl_work *ivl_take_slowly(struct ivl_worker *worker)
{
	struct ivl_work *work = ivl_pool_take(worker->pool);

	ivl_count(worker, takes);
	if (!work)
		ivl_count(worker, take_failures);
	tell_length(worker);
	return work;
}

static void put_mail(ivl_runtime *runtime, struct ivl_mailbox *box, struct ivl_work *work,
		     const struct ivl_place *place)
{
	const bool counted = ivl_submit_begin(runtime);

	ivl_mailbox_put(box, work);
	/* Relaxed: for busy workers; idle ones look into the mailbox. */
	atomic_fetch_add_explicit(&runtime->attention, IVL_MAIL, memory_order_relaxed);
	ivl_idle_wake(runtime, place);
	ivl_submit_end(runtime, counted);
}

void ivl_post(ivl_runtime *runtime, struct ivl_work *work, const struct ivl_place *place)
{
	put_mail(runtime, &runtime->place_states[place->number].mailbox, work, place);
}

void ivl_post_stackless(struct ivl_worker *worker, struct ivl_work *work)
{
	ivl_mailbox_put(&worker->runtime->place_states[worker->place->index].stackless, work);
	/* Another worker may have a free stack. */
	ivl_idle_wake(worker->runtime, worker->place);
}

static bool is_of(const struct ivl_worker *worker, const ivl_runtime *runtime)
{
	return worker && worker->runtime == runtime;
}

static bool is_here(const struct ivl_worker *worker, const ivl_runtime *runtime,
		    const ivl_place *place)
{
	return is_of(worker, runtime) && (!place || place == worker->place);
}

/*
 * Is the worker's own queue as good for that hint? It is for an enclosing place, whose other
 * workers may steal it, and for another runtime's place.
 */
static bool stays(const struct ivl_worker *worker, const ivl_place *place)
{
	const ivl_runtime *runtime = worker->runtime;

	return !ivl_topology_has(runtime->topology, place) ||
	       (runtime->config.cross_place && ivl_place_is_inside(worker->place, place));
}

/* The place for work with that hint. */
static const ivl_place *destination(const struct ivl_worker *worker, ivl_runtime *runtime,
				    const ivl_place *place)
{
	if (is_of(worker, runtime))
		return !place || stays(worker, place) ? worker->place : place;
	return place && ivl_topology_has(runtime->topology, place) ? place :
								     ivl_next_place(runtime);
}

/* Not inlined, so that the common case saves no registers. */
__attribute__((noinline)) static void submit_by_hint(ivl_runtime *runtime, struct ivl_work *work,
						     const ivl_place *place)
{
	struct ivl_worker *worker = ivl_self();

	place = destination(worker, runtime, place);
	if (!is_here(worker, runtime, place) || ivl_put(worker, work))
		ivl_post(runtime, work, place);
}

void ivl_make_ready(ivl_runtime *runtime, struct ivl_work *work, const ivl_place *place)
{
	struct ivl_worker *worker = ivl_self();

	if (!is_here(worker, runtime, place))
		submit_by_hint(runtime, work, place);
	else if (ivl_put(worker, work))
		ivl_post(runtime, work, worker->place);
}

void ivl_make_ready_high(ivl_runtime *runtime, struct ivl_work *work, const ivl_place *place)
{
	place = destination(ivl_self(), runtime, place);
	/* Relaxed: as for mail. First, since the runtime may be gone once the work is there. */
	atomic_fetch_add_explicit(&runtime->high, 1, memory_order_relaxed);
	put_mail(runtime, &runtime->place_states[place->number].high, work, place);
}

static void give_up_next(struct ivl_worker *worker)
{
	struct ivl_work *next = worker->next;

	worker->next = NULL;
	if (next)
		ivl_make_ready(worker->runtime, next, NULL);
}

void ivl_make_ready_next(ivl_runtime *runtime, struct ivl_work *work, const ivl_place *place)
{
	struct ivl_worker *worker = ivl_self();

	if (is_here(worker, runtime, place)) {
		give_up_next(worker);
		worker->next = work;
	} else {
		submit_by_hint(runtime, work, place);
	}
}

void ivl_stay(void)
{
	struct ivl_worker *worker = ivl_self();

	if (worker)
		give_up_next(worker);
}

unsigned int ivl_place_state_count(const struct ivl_worker *worker)
{
	const ivl_runtime *runtime = worker->runtime;

	return worker->place->levels +
	       (runtime->config.cross_place ? ivl_topology_places(runtime->topology) - 1 : 0);
}

struct ivl_place_state *ivl_place_state_at(struct ivl_worker *worker, unsigned int number)
{
	ivl_runtime *runtime = worker->runtime;
	const struct ivl_place *place = worker->place;
	const unsigned int levels = place->levels;

	if (number >= levels)
		return &runtime->place_states[(place->number + number - levels + 1) %
				       ivl_topology_places(runtime->topology)];
	while (number--)
		place = place->outer;
	return &runtime->place_states[place->number];
}

bool ivl_has_high(struct ivl_worker *worker)
{
	if (!ivl_high_there(worker))
		return false;
	for (unsigned int i = 0; i < ivl_place_state_count(worker); i++)
		if (!ivl_mailbox_empty(&ivl_place_state_at(worker, i)->high))
			return true;
	return false;
}

bool ivl_place_has_mail(struct ivl_place_state *state)
{
	/* Not by the count: a worker going to sleep may see only the mailbox. */
	return !ivl_mailbox_empty(&state->mailbox) || !ivl_mailbox_empty(&state->high);
}

bool ivl_has_mail(struct ivl_worker *worker)
{
	for (unsigned int i = 0; i < ivl_place_state_count(worker); i++)
		if (ivl_place_has_mail(ivl_place_state_at(worker, i)))
			return true;
	return false;
}

bool ivl_mail_waited(struct ivl_worker *worker)
{
	if (ivl_has_high(worker))
		return true;
	if (++worker->passed < IVL_MAIL_WAITS)
		return false;
	worker->passed = 0;
	return ivl_has_mail(worker);
}
