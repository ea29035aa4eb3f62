/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Seats: what makes a worker of a thread that calls ivl_run_here(). A seat is made when one
 * comes and none of its place is free, and there as long as the runtime; so anybody may look
 * into its queue at any time, which is empty while nobody sits there.
 *
 * Who sits waits for the end of an interval, at the base, and works until then. It sleeps
 * alone, as who wakes it for that end must wake nobody else.
 */
#ifndef IVL_EXTERNAL_H
#define IVL_EXTERNAL_H

#include "thread.h"
#include "worker.h"

struct ivl_external {
	struct ivl_worker worker;
	struct ivl_waiter waiter;
	/* It waits until this word, mostly the waiter's, is not `value` any more. Its thread's. */
	_Atomic(const _Atomic(uint32_t) *) awaited;
	_Atomic(uint32_t) value;
	struct ivl_tied own;		/* it sleeps there, and in an attended runtime is bound */
	struct ivl_external *next;
	_Atomic(bool) taken;
	struct ivl_exceptions before;	/* those of its thread, from before it sat down */
	char signal_stack[IVL_SIGNAL_STACK];
};

/* All there are; by `next`. Any thread. */
static inline struct ivl_external *ivl_externals(const ivl_runtime *runtime)
{
	/* Acquire, from who has made the first: what is in them. */
	return atomic_load_explicit(&runtime->externals, memory_order_acquire);
}

static inline bool ivl_external_taken(const struct ivl_external *ext)
{
	return atomic_load_explicit(&ext->taken, memory_order_relaxed);
}

/* May who sits there take work from this place, and its workers from who sits there? */
static inline bool ivl_external_reaches(const struct ivl_external *ext, const struct ivl_place *place)
{
	return ext->worker.runtime->config.cross_place ||
	       ivl_place_is_inside(ext->worker.place, place);
}

/* As ivl_wait(), at the base. */
void ivl_external_wait(struct ivl_external *ext, bool (*publish)(void *arg, struct ivl_waiter *waiter),
		   void *arg);
/* As it, until the word is not `value` any more: see ivl_attached_wait(). */
void ivl_external_wait_word(struct ivl_external *ext, const _Atomic(uint32_t) *word, uint32_t value);
/* Sleep as ivl_eventcount_sleep(), and not longer than for that word. */
void ivl_external_sleep(struct ivl_external *ext, uint64_t key);
/* What it waits for has come. Any thread. */
void ivl_external_call(struct ivl_external *ext);

/*
 * By the last that is awake: what is kept from going on by what waits alone, goes on; nothing
 * else can. True: there is any, and who can do it, maybe the caller, has been told.
 */
bool ivl_externals_lift_exclusion(struct ivl_worker *worker);
/* Work is there, and all sleep: one of them looks again. */
void ivl_externals_wake_one(ivl_runtime *runtime);

/* A seat that is taken already, at this place; NULL: ENOMEM. */
struct ivl_external *ivl_external_create(ivl_runtime *runtime, const struct ivl_place *place);

/* Nobody sits any more. */
void ivl_externals_destroy(ivl_runtime *runtime);

#endif
