/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Seats: what makes a worker of a thread that calls ivl_run_here(). A seat is made when one
 * comes and none of its place is free, and there as long as the runtime; so anybody may look
 * into its queue at any time, which is empty while nobody sits there.
 *
 * Who sits waits for the end of an interval, at the base, and works until then. It sleeps
 * alone, as who wakes it for that end must wake nobody else.
 */
#ifndef IVL_SEAT_H
#define IVL_SEAT_H

#include "thread.h"
#include "worker.h"

struct ivl_seat {
	struct ivl_worker worker;
	struct ivl_waiter waiter;
	/* It waits until this word, mostly the waiter's, is not `value` any more. Its thread's. */
	_Atomic(const _Atomic(uint32_t) *) awaited;
	_Atomic(uint32_t) value;
	struct ivl_bound own;		/* it sleeps there, and in an attended runtime is bound */
	struct ivl_seat *next;
	_Atomic(bool) taken;
	struct ivl_exceptions before;	/* those of its thread, from before it sat down */
	char signal_stack[IVL_SIGNAL_STACK];
};

/* All there are; by `next`. Any thread. */
static inline struct ivl_seat *ivl_seats(const ivl_runtime *runtime)
{
	/* Acquire, from who has made the first: what is in them. */
	return atomic_load_explicit(&runtime->seats, memory_order_acquire);
}

static inline bool ivl_seat_taken(const struct ivl_seat *seat)
{
	return atomic_load_explicit(&seat->taken, memory_order_relaxed);
}

/* May who sits there take work from this place, and its workers from who sits there? */
static inline bool ivl_seat_near(const struct ivl_seat *seat, const struct ivl_place *place)
{
	return seat->worker.runtime->config.cross_place ||
	       ivl_place_is_inside(seat->worker.place, place);
}

/* As ivl_wait(), at the base. */
void ivl_seat_wait(struct ivl_seat *seat, bool (*publish)(void *arg, struct ivl_waiter *waiter),
		   void *arg);
/* As it, until the word is not `value` any more: see ivl_attend_wait(). */
void ivl_seat_wait_word(struct ivl_seat *seat, const _Atomic(uint32_t) *word, uint32_t value);
/* Sleep as ivl_eventcount_sleep(), and not longer than for that word. */
void ivl_seat_sleep(struct ivl_seat *seat, uint64_t key);
/* What it waits for has come. Any thread. */
void ivl_seat_call(struct ivl_seat *seat);

/*
 * By the last that is awake: what is kept from going on by what waits alone, goes on; nothing
 * else can. True: there is any, and who can do it, maybe the caller, has been told.
 */
bool ivl_seats_let_off(struct ivl_worker *worker);
/* Work is there, and all sleep: one of them looks again. */
void ivl_seats_rouse(ivl_runtime *runtime);

/* A seat that is taken already, at this place; NULL: ENOMEM. */
struct ivl_seat *ivl_seat_make(ivl_runtime *runtime, const struct ivl_place *place);

/* Nobody sits any more. */
void ivl_seats_destroy(ivl_runtime *runtime);

#endif
