// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Workers without work: searching and sleeping; waking.c wakes them one by one.
 * Documentation/design.rst has the protocol and its invariants.
 *
 * A producer publishes work, then reads `asleep`. A worker counts itself in `asleep`, makes each
 * CPU that runs this process pass a full barrier, then looks for work once more. So either the
 * producer sees the sleeper or the worker sees the work, and a spawn needs no fence. Without
 * membarrier() `asleep` never falls to 0.
 */
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "deadlock.h"
#include "feedback.h"
#include "fence.h"
#include "find.h"
#include "idle.h"
#include "external.h"
#include "switching.h"
#include "waking.h"
#include "watch/probes.h"
#include "watch/watch.h"

/* Relaxed: it changes only while there is no work (ivl_attach_oversubscribed()). */
static bool is_oversubscribed(const ivl_runtime *runtime)
{
	return atomic_load_explicit(&runtime->oversubscribed, memory_order_relaxed);
}

static void barrier_everywhere(const ivl_runtime *runtime)
{
	ivl_fence(memory_order_seq_cst);
	/* When oversubscribed, producers have a fence of their own. */
	if (!is_oversubscribed(runtime))
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

/*
 * Producers may have relied on this worker, or woken it for work, and it looks for no more: hand on
 * what is left. Pairs with the fence in ivl_idle_wake(), and with the one before a worker sleeps.
 */
static void pass_on(struct ivl_worker *worker)
{
	ivl_fence(memory_order_seq_cst);
	if (ivl_anything(worker))
		ivl_idle_wake_for_all(worker);
}

void ivl_idle_gate_opens(ivl_runtime *runtime)
{
	const bool given = runtime->config.search_us != IVL_SEARCH_MEASURED;

	atomic_store_explicit(&runtime->search_us,
			      given ? runtime->config.search_us : IVL_SEARCH_US,
			      memory_order_relaxed);
	runtime->gate_ns = ivl_clock_ns(CLOCK_MONOTONIC);
}

/* A worker that did not sleep yet, or waits for a CPU, is no measure: hence the bounds. */
void ivl_idle_gate_passed(ivl_runtime *runtime)
{
	const uint64_t now = ivl_clock_ns(CLOCK_MONOTONIC);
	uint64_t us;

	if (runtime->config.search_us != IVL_SEARCH_MEASURED)
		return;
	runtime->wakes_ns += now - runtime->gate_ns;
	runtime->gate_ns = now;
	us = runtime->wakes_ns / ++runtime->passed / 1000;
	us = us < IVL_SEARCH_LEAST_US ? IVL_SEARCH_LEAST_US : us;
	us = us > IVL_SEARCH_MOST_US ? IVL_SEARCH_MOST_US : us;
	atomic_store_explicit(&runtime->search_us, us, memory_order_relaxed);
}

/* Relaxed: any of the values will do. */
static uint64_t search_us(ivl_runtime *runtime)
{
	return atomic_load_explicit(&runtime->search_us, memory_order_relaxed);
}

static struct ivl_work *search(struct ivl_worker *worker, struct ivl_place_state *state)
{
	/* When oversubscribed, a yield would give the CPU away for a time slice. */
	const uint64_t ns = is_oversubscribed(worker->runtime) ? 0 :
			    search_us(worker->runtime) * (IVL_NS_PER_S / 1000000);
	const uint64_t end = ns ? ivl_clock_ns(CLOCK_MONOTONIC) + ns : 0;
	struct ivl_work *work = NULL;
	bool over = false;

	/* Producers must not rely on this worker. */
	if (ivl_is_restricted(worker))
		return ivl_find(worker);
	atomic_fetch_add_explicit(&state->searching, 1, memory_order_seq_cst);
	for (int round = 1; !work && !over; round++) {
		work = ivl_find(worker);
		/* Stackless work is refused when all workers sleep; searching does not help. */
		over = !ns || ivl_over(worker) || ivl_stackless_there(worker->runtime);
		if (round % IVL_SEARCH_ROUNDS == 0 && !work && !over) {
			sched_yield();
			over = ivl_clock_ns(CLOCK_MONOTONIC) >= end;
		}
	}
	/* The last searcher runs work now. Work published since then relied on it. */
	if (atomic_fetch_sub_explicit(&state->searching, 1, memory_order_seq_cst) == 1 && work)
		pass_on(worker);
	return work;
}

/* The last look. A throttled worker leaves it to the one in a timed sleep. */
static bool sees_work(struct ivl_worker *worker, const struct ivl_place_state *state,
		      bool throttled)
{
	if (ivl_is_restricted(worker))
		return ivl_returns(worker);
	return (!throttled || !ivl_timed_sleep_active(&state->timed_sleep)) && ivl_anything(worker);
}

/*
 * Called by a worker that has just counted itself asleep as number `asleep`. If it is the last one
 * awake, starts work that lacks a stack or that exclusive waits hold back. Returns true if the
 * caller has something to do. A worker in an exclusive wait may be told by a later last one, so it
 * reads the count again now that it can be woken.
 */
static bool serve_last(struct ivl_worker *worker, unsigned int asleep)
{
	ivl_runtime *runtime = worker->runtime;
	const unsigned int all = atomic_load_explicit(&runtime->all_asleep, memory_order_seq_cst);

	if (runtime->threadless &&
	    (uint32_t)atomic_load_explicit(&runtime->attention, memory_order_relaxed) == all &&
	    ivl_externals_lift_exclusion(worker))
		return worker->exclusion_lifted;
	if (asleep != all)
		return false;
	return runtime->deadlock ? ivl_deadlock_serve_stackless(runtime) :
				   ivl_serve_stackless(runtime);
}

/* The last worker to sleep looks for a deadlock when the time is over. */
static void sleep_until_woken(struct ivl_worker *worker, struct ivl_eventcount *eventcount,
			      uint64_t key, unsigned int asleep)
{
	const ivl_runtime *runtime = worker->runtime;
	const uint64_t ns = ivl_clock_ns(CLOCK_MONOTONIC) +
			    runtime->config.deadlock_ms * (IVL_NS_PER_S / 1000);

	if (asleep != atomic_load_explicit(&runtime->all_asleep, memory_order_relaxed))
		ivl_eventcount_sleep(eventcount, key);
	else if (ivl_eventcount_sleep_until(eventcount, key, ns) &&
		 ivl_clock_ns(CLOCK_MONOTONIC) >= ns)
		ivl_deadlock_look(worker);
}

static void go_to_sleep(struct ivl_worker *worker, struct ivl_place_state *state, bool throttled)
{
	ivl_runtime *runtime = worker->runtime;
	struct ivl_sleepers *sleepers = worker->external ? &worker->external->own.sleepers :
					worker->tied ? &worker->tied->sleepers :
							&state->sleepers;
	unsigned int asleep;
	bool awaits_work;
	uint64_t key;

	/* Stacks are scarce: each worker that kept one could starve another. */
	if (runtime->fibers_kept == 1)
		ivl_fiber_put_all(worker);
	/* A worker in an exclusive wait cannot run what sleepers are woken for. */
	worker->exclusion_lifted = false;
	awaits_work = !ivl_is_restricted(worker);
	if (awaits_work)
		atomic_fetch_add_explicit(&sleepers->asleep, 1, memory_order_seq_cst);
	asleep = (uint32_t)atomic_fetch_add_explicit(&runtime->attention, 1,
						     memory_order_seq_cst) + 1;
	key = ivl_eventcount_prepare(&sleepers->eventcount);
	/* Pairs with the put and the load of `attention` in ivl_put() (run_queue.h). */
	barrier_everywhere(runtime);
	if (worker->feedback)
		ivl_feedback_leave(worker, state);
	if (sees_work(worker, state, throttled) || ivl_over(worker) ||
	    serve_last(worker, asleep)) {
		ivl_eventcount_cancel(&sleepers->eventcount);
	} else {
		ivl_count(worker, idles);
		if (ivl_is_watched(worker))
			ivl_watch_sleep(worker);
		IVL_PROBE1(sleep, worker->number);
		if (runtime->deadlock)
			sleep_until_woken(worker, &sleepers->eventcount, key, asleep);
		else if (worker->external)
			ivl_external_sleep(worker->external, key);
		else
			ivl_eventcount_sleep(&sleepers->eventcount, key);
		IVL_PROBE1(wake, worker->number);
		if (ivl_is_watched(worker))
			ivl_watch_wake(worker);
		ivl_count(worker, wakes);
	}
	atomic_fetch_sub_explicit(&runtime->attention, 1, memory_order_relaxed);
	if (awaits_work)
		atomic_fetch_sub_explicit(&sleepers->asleep, 1, memory_order_relaxed);
	if (runtime->deadlock)
		ivl_deadlock_gate(runtime->deadlock);
}

static struct ivl_work *find_or_sleep(struct ivl_worker *worker)
{
	struct ivl_place_state *state = &worker->runtime->place_states[worker->place->index];

	for (;;) {
		const bool throttled = worker->feedback && ivl_feedback_throttles(worker, state);
		struct ivl_work *work = throttled ? NULL : search(worker, state);

		if (work)
			return work;
		if (ivl_over(worker)) {
			pass_on(worker);
			return NULL;
		}
		go_to_sleep(worker, state, throttled);
	}
}

struct ivl_work *ivl_idle(struct ivl_worker *worker)
{
	struct ivl_work *work;

	if (worker->feedback)
		ivl_feedback_rest(worker);
	work = find_or_sleep(worker);
	if (worker->feedback)
		ivl_feedback_resume(worker);
	return work;
}
