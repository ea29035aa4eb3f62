// SPDX-License-Identifier: LGPL-2.1-or-later
#include <sched.h>

#include <external.h>
#include <watch/probes.h>
#include <watch/watch.h>

#include "clock.h"
#include "feedback.h"
#include "find.h"
#include "run_queue.h"
#include "switching.h"
#include "waking.h"

static struct ivl_work *open_box(struct ivl_worker *worker, struct ivl_mailbox *mailbox)
{
	bool more;
	struct ivl_work *work = ivl_mailbox_take(mailbox, &more);

	if (!work)
		return NULL;
	atomic_fetch_sub_explicit(&worker->runtime->attention, IVL_MAIL, memory_order_relaxed);
	/* Producers that came meanwhile saw a mailbox in use. */
	if (more)
		ivl_idle_wake_for_all(worker);
	ivl_count(worker, mailbox);
	return work;
}

static struct ivl_work *open_mailbox(struct ivl_worker *worker, struct ivl_place_state *state)
{
	return open_box(worker, &state->mailbox);
}

/* Mail of the worker's place and the places around it. */
static struct ivl_work *open_near(struct ivl_worker *worker)
{
	struct ivl_work *work = NULL;

	for (unsigned int i = 0; i < worker->place->levels && !work; i++)
		work = open_mailbox(worker, ivl_place_state_at(worker, i));
	return work;
}

static struct ivl_work *open_high(struct ivl_worker *worker)
{
	struct ivl_work *work = NULL;

	for (unsigned int i = 0; i < ivl_place_state_count(worker) && !work; i++)
		work = open_box(worker, &ivl_place_state_at(worker, i)->high);
	if (work)
		atomic_fetch_sub_explicit(&worker->runtime->high, 1, memory_order_relaxed);
	return work;
}

/* Stackless work, if this worker has a stack. */
static struct ivl_work *begin_stackless(struct ivl_worker *worker, struct ivl_place_state *state)
{
	bool more;

	if (ivl_mailbox_empty(&state->stackless) || !ivl_fiber_there(worker))
		return NULL;
	return ivl_mailbox_take(&state->stackless, &more);
}

bool ivl_serve_stackless(ivl_runtime *runtime)
{
	struct ivl_work *work;
	bool more;

	for (unsigned int i = 0; i < runtime->topology->leaf_count; i++) {
		struct ivl_mailbox *stackless = &runtime->place_states[i].stackless;

		work = ivl_mailbox_take(stackless, &more);
		if (!work)
			continue;
		if (work->kind->runs_at_waiter && work->kind->runs_at_waiter(work)) {
			work->kind->refuse(work);
		} else if (ivl_stacks_exceed(runtime->stacks)) {
			ivl_mailbox_put(stackless, work);
			ivl_idle_wake(runtime, ivl_place_at(runtime, i));
		} else {
			if (runtime->no_stack)
				runtime->no_stack();
			atomic_fetch_add_explicit(&runtime->refused, 1, memory_order_relaxed);
			work->kind->refuse(work);
		}
		return true;
	}
	return false;
}

bool ivl_stackless_there(ivl_runtime *runtime)
{
	for (unsigned int i = 0; i < runtime->topology->leaf_count; i++)
		if (!ivl_mailbox_empty(&runtime->place_states[i].stackless))
			return true;
	return false;
}

static void tell_of_steal(struct ivl_worker *worker, struct ivl_worker *victim)
{
	IVL_PROBE2(steal, worker->number, victim->number);
	if (ivl_is_watched(worker))
		ivl_watch_steal(worker, victim);
}

/* Move up to half of the victim's queue into the worker's own. */
static void steal_more(struct ivl_worker *worker, struct ivl_worker *victim)
{
	size_t more = ivl_pool_size(victim->pool) / 2;
	void *element;

	while (more-- && ivl_pool_steal(victim->pool, &element) == IVL_STOLEN) {
		atomic_fetch_add_explicit(&victim->lost, 1, memory_order_relaxed);
		tell_of_steal(worker, victim);
		if (ivl_put(worker, element))
			ivl_post(worker->runtime, element, worker->place);
	}
}

static struct ivl_work *steal_from(struct ivl_worker *worker, struct ivl_worker *victim)
{
	const bool remote = victim->place != worker->place;
	void *element;
	bool stolen;

	stolen = ivl_pool_steal(victim->pool, &element) == IVL_STOLEN;
	if (stolen)
		tell_of_steal(worker, victim);
	if (stolen && worker->runtime->config.steal_half)
		steal_more(worker, victim);

	ivl_count(worker, steals);
	if (remote)
		ivl_count(worker, steals_remote);
	if (!stolen) {
		ivl_count(worker, steal_failures);
		if (remote)
			ivl_count(worker, steal_failures_remote);
		return NULL;
	}
	atomic_fetch_add_explicit(&victim->lost, 1, memory_order_relaxed);
	if (victim->mask)
		ivl_stealability_update(victim->mask, victim->number,
					(unsigned int)ivl_pool_size(victim->pool));
	return element;
}

/* Pause before the next steal if the last ones did not pay off. */
static void back_off(struct ivl_worker *worker)
{
	const uint64_t stolen = worker->stolen_ns;
	const uint64_t now = stolen ? ivl_clock_ns(CLOCK_MONOTONIC) : 0;
	uint64_t pause, paused;

	if (!stolen)
		return;
	worker->stolen_ns = 0;
	pause = ivl_pause_after(&worker->steal_backoff, now - stolen);
	if (!pause)
		return;
	do {
		sched_yield();
		paused = ivl_clock_ns(CLOCK_MONOTONIC) - now;
	} while (paused < pause);
	/* The pause may have taken longer than intended. */
	ivl_idled(worker, paused);
}

/* External workers come last. */
static struct ivl_work *steal_from_externals(struct ivl_worker *worker)
{
	struct ivl_work *work = NULL;

	for (struct ivl_external *ext = ivl_externals(worker->runtime); ext && !work;
	     ext = ext->next)
		if (ext != worker->external && ivl_external_taken(ext) &&
		    ivl_external_reaches(ext, worker->place))
			work = steal_from(worker, &ext->worker);
	return work;
}

static struct ivl_work *steal(struct ivl_worker *worker)
{
	ivl_runtime *runtime = worker->runtime;
	struct ivl_work *work;
	bool looked = false;
	int number;

	if (!runtime->shared) {
		back_off(worker);
		ivl_chooser_begin(worker->chooser);
		while ((number = ivl_chooser_next(worker->chooser)) >= 0) {
			struct ivl_worker *victim = &runtime->workers[number];

			/* A place's mailbox comes after its queues (SLAW, section IV). */
			if (!looked && victim->place != worker->place) {
				looked = true;
				work = open_near(worker);
				if (work)
					return work;
			}
			work = steal_from(worker, victim);
			if (work) {
				worker->stolen_ns = ivl_clock_ns(CLOCK_MONOTONIC);
				ivl_chooser_succeeded(worker->chooser);
				return work;
			}
		}
		work = steal_from_externals(worker);
		if (work) {
			worker->stolen_ns = ivl_clock_ns(CLOCK_MONOTONIC);
			return work;
		}
	}
	return looked ? NULL : open_near(worker);
}

static struct ivl_work *open_first(struct ivl_worker *worker)
{
	struct ivl_work *work = NULL;

	worker->mail_first = false;
	for (unsigned int i = 0; i < ivl_place_state_count(worker) && !work; i++)
		work = open_mailbox(worker, ivl_place_state_at(worker, i));
	return work;
}

/* Inlined: without throttling there is no extra call. */
__attribute__((always_inline)) static inline struct ivl_work *find_own(struct ivl_worker *worker)
{
	struct ivl_work *work = NULL;

	/* Not a fiber that has just given way to mail. */
	if (ivl_returns(worker) && !worker->mail_first)
		work = ivl_tied_take(worker->tied);
	if (!work && ivl_high_there(worker)) {
		ivl_stay();
		work = open_high(worker);
		if (work)
			worker->mail_first = false;
	}
	/* `next` comes before mail: only this worker can take it. */
	if (!work && worker->mail_first && !worker->next)
		work = open_first(worker);
	if (!work)
		work = ivl_take_next(worker);
	if (!work && ivl_flush_deferred(worker->deferred, worker, NULL, true))
		work = ivl_take_next(worker);
	return work ? work : begin_stackless(worker, ivl_place_state_at(worker, 0));
}

struct ivl_work *ivl_find_own(struct ivl_worker *worker)
{
	return find_own(worker);
}

/* Only what resumes an exclusive wait; deferred counts are published all the same. */
static struct ivl_work *find_first(struct ivl_worker *worker)
{
	ivl_flush_deferred(worker->deferred, worker, NULL, false);
	return ivl_tied_take(worker->tied);
}

struct ivl_work *ivl_find(struct ivl_worker *worker)
{
	struct ivl_work *work;

	if (ivl_is_restricted(worker))
		return find_first(worker);
	work = find_own(worker);
	if (!work)
		work = steal(worker);
	for (unsigned int i = worker->place->levels; i < ivl_place_state_count(worker) && !work;
	     i++) {
		work = open_mailbox(worker, ivl_place_state_at(worker, i));
		if (!work)
			work = begin_stackless(worker, ivl_place_state_at(worker, i));
	}
	return work;
}

bool ivl_anything(struct ivl_worker *worker)
{
	ivl_runtime *runtime = worker->runtime;
	const bool everywhere = runtime->config.cross_place;

	if (ivl_has_mail(worker) || ivl_returns(worker))
		return true;
	for (unsigned int i = 0; i < runtime->topology->workers; i++) {
		const struct ivl_worker *other = &runtime->workers[i];

		if ((everywhere || other->place == worker->place) &&
		    ivl_pool_size(other->pool))
			return true;
	}
	for (struct ivl_external *ext = ivl_externals(runtime); ext; ext = ext->next)
		if (ivl_external_reaches(ext, worker->place) && ivl_pool_size(ext->worker.pool))
			return true;
	return false;
}
