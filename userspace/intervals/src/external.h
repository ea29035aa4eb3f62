/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * External workers: the workers of threads that call ivl_run_here() or attach (attach.h). One is
 * created when no free one is left at the place, and lives as long as the runtime, so that any
 * thread may look into its queue at any time. The queue is empty while no thread uses the worker.
 *
 * The thread waits at the base for its interval to end, and works until then. It has an eventcount
 * of its own, so that the end wakes no other worker.
 */
#ifndef IVL_EXTERNAL_H
#define IVL_EXTERNAL_H

#include "thread.h"
#include "worker.h"

struct ivl_external {
	struct ivl_worker worker;
	struct ivl_waiter waiter;
	/*
	 * It waits until this word, mostly the waiter's, differs from `value`. Written by its
	 * thread.
	 */
	_Atomic(const _Atomic(uint32_t) *) awaited;
	_Atomic(uint32_t) value;
	struct ivl_tied own;		/* where it sleeps; ties its tasks if threadless */
	struct ivl_external *next;
	_Atomic(bool) taken;
	struct ivl_exceptions before;	/* of its thread, from before it entered */
};

/* The list of all, by `next`. Any thread. */
static inline struct ivl_external *ivl_externals(const ivl_runtime *runtime)
{
	/* Acquire, from ivl_external_create(). */
	return atomic_load_explicit(&runtime->externals, memory_order_acquire);
}

static inline bool ivl_external_taken(const struct ivl_external *ext)
{
	return atomic_load_explicit(&ext->taken, memory_order_relaxed);
}

/* May the worker take work of this place, and the place's workers take work of it? */
static inline bool ivl_external_reaches(const struct ivl_external *ext, const struct ivl_place *place)
{
	return ext->worker.runtime->config.cross_place ||
	       ivl_place_is_inside(ext->worker.place, place);
}

/* Like ivl_wait(), at the base. */
void ivl_external_wait(struct ivl_external *ext, bool (*publish)(void *arg, struct ivl_waiter *waiter),
		   void *arg);
/* The same until the word differs from `value`; see ivl_attached_wait(). */
void ivl_external_wait_word(struct ivl_external *ext, const _Atomic(uint32_t) *word, uint32_t value);
/* Like ivl_eventcount_sleep(), but the awaited word wakes it too. */
void ivl_external_sleep(struct ivl_external *ext, uint64_t key);
/* Complete its wait. Any thread. */
void ivl_external_call(struct ivl_external *ext);

/*
 * By the last worker awake: let work run that exclusive waits hold back, since nothing else can.
 * True: there is some, and a worker that can run it, maybe the caller, knows.
 */
bool ivl_externals_lift_exclusion(struct ivl_worker *worker);
/* There is work and all workers sleep: wake one to look again. */
void ivl_externals_wake_one(ivl_runtime *runtime);

/* Already taken by the caller. NULL: ENOMEM. */
struct ivl_external *ivl_external_create(ivl_runtime *runtime, const struct ivl_place *place);

/* No thread may use them any more. */
void ivl_externals_destroy(ivl_runtime *runtime);

#endif
