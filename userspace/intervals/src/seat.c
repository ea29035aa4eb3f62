// SPDX-License-Identifier: LGPL-2.1-or-later
/* Threads that are workers as long as they wait: ivl_run_here(). */
#include "seat.h"

#include <futex.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "find.h"
#include "run_queue.h"
#include "switching.h"

/*
 * Waiting.
 */

/* Has what it waits for come? */
static bool is_called(const struct ivl_seat *seat)
{
	const _Atomic(uint32_t) *word = atomic_load_explicit(&seat->awaited, memory_order_relaxed);

	/* Acquire: what was written before ivl_wake(), or before the word was changed. */
	return atomic_load_explicit(word, memory_order_acquire) !=
	       atomic_load_explicit(&seat->value, memory_order_relaxed);
}

bool ivl_seat_called(const struct ivl_seat *seat)
{
	return is_called(seat) && (!ivl_is_held_up(&seat->worker) || seat->worker.base.alone);
}

void ivl_seat_wait(struct ivl_seat *seat, bool (*publish)(void *arg, struct ivl_waiter *waiter),
		   void *arg)
{
	struct ivl_worker *worker = &seat->worker;

	atomic_store_explicit(&seat->waiter.word, 0, memory_order_relaxed);
	ivl_waits_alone(worker, &worker->base);
	if (publish(arg, &seat->waiter))
		ivl_thread_work(worker);
	ivl_waited_alone(worker, &worker->base);
	/* Until it waits again nobody has called it. */
	atomic_store_explicit(&seat->waiter.word, 0, memory_order_relaxed);
}

/* Relaxed: others look only when its thread sleeps, and has said so. */
static void await(struct ivl_seat *seat, const _Atomic(uint32_t) *word, uint32_t value)
{
	atomic_store_explicit(&seat->value, value, memory_order_relaxed);
	atomic_store_explicit(&seat->awaited, word, memory_order_relaxed);
}

void ivl_seat_wait_word(struct ivl_seat *seat, const _Atomic(uint32_t) *word, uint32_t value)
{
	struct ivl_worker *worker = &seat->worker;

	await(seat, word, value);
	ivl_waits_alone(worker, &worker->base);
	ivl_thread_work(worker);
	ivl_waited_alone(worker, &worker->base);
	await(seat, &seat->waiter.word, 0);
}

void ivl_seat_sleep(struct ivl_seat *seat, uint64_t key)
{
	struct ivl_eventcount *eventcount = &seat->own.sleepers.eventcount;
	const _Atomic(uint32_t) *word = atomic_load_explicit(&seat->awaited, memory_order_relaxed);

	if (word == &seat->waiter.word) {
		ivl_eventcount_sleep(eventcount, key);
		return;
	}
	ivl_futex_wait_either(ivl_futex_upper(&eventcount->state), (uint32_t)key, word,
			      atomic_load_explicit(&seat->value, memory_order_relaxed));
	ivl_eventcount_cancel(eventcount);
}

/* Was anybody asleep there? */
static bool wake(struct ivl_seat *seat)
{
	return ivl_eventcount_notify(&seat->own.sleepers.eventcount, 1);
}

void ivl_seat_call(struct ivl_seat *seat)
{
	ivl_runtime *runtime = seat->worker.runtime;
	const bool visits = ivl_visit(runtime);

	atomic_store_explicit(&seat->waiter.word, 1, memory_order_release);
	wake(seat);
	ivl_leave(runtime, visits);
}

/*
 * Waiting alone, while all sleep.
 */

/* What only its thread can go on with, whatever keeps it from that. */
static bool has_something(struct ivl_seat *seat)
{
	return is_called(seat) || !ivl_mailbox_empty(&seat->own.returning);
}

bool ivl_seats_let_off(struct ivl_worker *worker)
{
	bool any = false;

	worker->let_off = worker->alone && (has_something(worker->seat) || ivl_anything(worker));
	if (worker->let_off)
		return true;
	/* Who is told goes to sleep again, and is the last then if nobody else has come. */
	for (struct ivl_seat *seat = ivl_seats(worker->runtime); seat; seat = seat->next)
		any |= seat != worker->seat && has_something(seat) && wake(seat);
	return any;
}

void ivl_seats_rouse(ivl_runtime *runtime)
{
	struct ivl_seat *seat = ivl_seats(runtime);

	/* Those of threads that have no part in this are asleep elsewhere. */
	while (seat && !wake(seat))
		seat = seat->next;
}

/*
 * Making.
 */

static void destroy(struct ivl_seat *seat)
{
	ivl_bound_destroy(&seat->own);
	free(seat);
}

struct ivl_seat *ivl_seat_make(ivl_runtime *runtime, const struct ivl_place *place)
{
	struct ivl_seat *seat = aligned_alloc(IVL_LINE, sizeof(*seat));

	if (!seat)
		return NULL;
	memset(seat, 0, offsetof(struct ivl_seat, signal_stack));
	seat->worker.seat = seat;
	seat->waiter.seat = seat;
	await(seat, &seat->waiter.word, 0);
	seat->worker.bound = runtime->attended ? &seat->own : NULL;
	atomic_init(&seat->taken, true);
	ivl_bound_init(&seat->own, &seat->worker);
	if (ivl_worker_init(&seat->worker, runtime, place, UINT_MAX)) {
		ivl_worker_destroy(&seat->worker);
		destroy(seat);
		return NULL;
	}
	seat->next = atomic_load_explicit(&runtime->seats, memory_order_relaxed);
	/* Release, to ivl_seats(). */
	while (!atomic_compare_exchange_weak_explicit(&runtime->seats, &seat->next, seat,
						      memory_order_release, memory_order_relaxed))
		;
	return seat;
}

void ivl_seats_destroy(ivl_runtime *runtime)
{
	struct ivl_seat *seat = ivl_seats(runtime);

	while (seat) {
		struct ivl_seat *next = seat->next;

		/* Of who stood up there are none. */
		if (seat->worker.free)
			ivl_stacks_put(runtime->stacks, seat->worker.free);
		ivl_worker_destroy(&seat->worker);
		destroy(seat);
		seat = next;
	}
}

/*
 * Sitting down and standing up.
 */

static bool has_cpu(const struct ivl_place *place, int cpu)
{
	for (unsigned int i = 0; i < place->cpu_count; i++)
		if (place->cpus[i] == cpu)
			return true;
	return false;
}

/* Where the caller's CPU is; or in turn, where that is at none of this machine's. */
static const struct ivl_place *callers_place(ivl_runtime *runtime)
{
	const struct ivl_topology *topology = runtime->topology;
	const int cpu = topology->bindable ? sched_getcpu() : -1;

	for (unsigned int i = 0; cpu >= 0 && i < topology->leaf_count; i++)
		if (has_cpu(&topology->leaves[i], cpu))
			return &topology->leaves[i];
	return ivl_next_place(runtime);
}

/* NULL: ENOMEM. */
static struct ivl_seat *find_seat(ivl_runtime *runtime)
{
	const struct ivl_place *place = callers_place(runtime);

	for (struct ivl_seat *seat = ivl_seats(runtime); seat; seat = seat->next)
		/* Acquire: from who has stood up. */
		if (seat->worker.place == place && !ivl_seat_taken(seat) &&
		    !atomic_exchange_explicit(&seat->taken, true, memory_order_acquire))
			return seat;
	return ivl_seat_make(runtime, place);
}

/* All are asleep only if who sits there is, too. */
static void count_in(struct ivl_seat *seat)
{
	atomic_fetch_add_explicit(&seat->worker.runtime->all_asleep, 1, memory_order_seq_cst);
}

/*
 * All others may be asleep, and work that has no stack have relied on this one; or the last of them
 * shall see whether all wait for each other.
 */
static void count_out(struct ivl_seat *seat)
{
	ivl_runtime *runtime = seat->worker.runtime;
	const unsigned int all = atomic_fetch_sub_explicit(&runtime->all_asleep, 1,
							   memory_order_seq_cst) - 1;

	if ((uint32_t)atomic_load_explicit(&runtime->attention, memory_order_seq_cst) == all &&
	    (ivl_stackless_there(runtime) || runtime->deadlock))
		ivl_idle_wake(runtime, seat->worker.place);
}

static void sit_down(struct ivl_seat *seat)
{
	struct ivl_worker *worker = &seat->worker;

	count_in(seat);
	ivl_thread_enter(worker, seat->signal_stack);
	/* The thread may be handling an exception, which is nothing to the tasks. */
	if (worker->exceptions) {
		seat->before = *worker->exceptions;
		*worker->exceptions = (struct ivl_exceptions){ 0 };
	}
}

/* What is in its queue is others', and its stacks. */
static void clear(struct ivl_worker *worker)
{
	ivl_runtime *runtime = worker->runtime;
	struct ivl_work *work;

	ivl_hold_nothing_back(worker, NULL, true);
	ivl_stay();
	while (!runtime->shared && (work = ivl_take(worker)))
		ivl_post(runtime, work, worker->place);
	ivl_fiber_put_all(worker);
	worker->mail_first = false;
}

static void stand_up(struct ivl_seat *seat)
{
	struct ivl_worker *worker = &seat->worker;

	clear(worker);
	count_out(seat);
	if (worker->exceptions)
		*worker->exceptions = seat->before;
	ivl_thread_leave(seat->signal_stack);
	/* Release: to who sits here next. */
	atomic_store_explicit(&seat->taken, false, memory_order_release);
}

int ivl_run_here(ivl_runtime *runtime, ivl_body *body, void *arg)
{
	/*
	 * A task takes part already; a parent's runtime has nothing to take part in. And tasks that
	 * are bound to the caller might wait for longer than it stays.
	 */
	struct ivl_seat *seat = ivl_self() || ivl_is_parents(runtime) || runtime->config.tied ?
				NULL : find_seat(runtime);
	int error;

	if (!seat)
		return ivl_run(runtime, body, arg);
	sit_down(seat);
	error = ivl_run(runtime, body, arg);
	stand_up(seat);
	return error;
}
