/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A worker's own queue, and mailboxes: putting work, and taking it first. Implements
 * ivl_make_ready() and its kind (scheduler.h).
 */
#ifndef IVL_RUN_QUEUE_H
#define IVL_RUN_QUEUE_H

#include "waking.h"
#include "worker.h"

/* Places take turns for work from outside. */
static inline const struct ivl_place *ivl_next_place(ivl_runtime *runtime)
{
	return ivl_place_at(runtime, atomic_fetch_add_explicit(&runtime->turn, 1,
							       memory_order_relaxed));
}

/* ivl_put() and ivl_take() for all kinds of queue, with statistics. */
int ivl_put_slowly(struct ivl_worker *worker, struct ivl_work *work);
struct ivl_work *ivl_take_slowly(struct ivl_worker *worker);

/* False: use ivl_put_slowly(). */
static inline bool ivl_try_put(struct ivl_worker *worker, struct ivl_work *work)
{
	return __builtin_expect(worker->deque && ivl_chase_lev_try_put(worker->deque, work), 1);
}

/* Call wake_if_asleep(worker) if a worker sleeps or there is mail; else returns 0. */
static inline int ivl_after_put(struct ivl_worker *worker, int (*wake_if_asleep)(struct ivl_worker *))
{
	/*
	 * No fence between the put and this load: a worker that goes to sleep makes all CPUs of the
	 * process pass one (membarrier() in idle.c). Only the compiler must keep the order.
	 */
	atomic_signal_fence(memory_order_seq_cst);
	if (__builtin_expect(atomic_load_explicit(&worker->runtime->attention,
						  memory_order_relaxed) != 0, 0))
		return wake_if_asleep(worker);
	return 0;
}

/* Put work into the worker's own queue, and wake a worker for it; 0 or ENOMEM. */
static inline int ivl_put(struct ivl_worker *worker, struct ivl_work *work)
{
	return ivl_try_put(worker, work) ? ivl_after_put(worker, ivl_idle_wake_near) :
					   ivl_put_slowly(worker, work);
}

/* NULL: empty. */
static inline struct ivl_work *ivl_take(struct ivl_worker *worker)
{
	if (__builtin_expect(!worker->deque, 0))
		return ivl_take_slowly(worker);
	return (struct ivl_work *)ivl_chase_lev_take(worker->deque);
}

/* First what ivl_make_ready_next() left. */
static inline struct ivl_work *ivl_take_next(struct ivl_worker *worker)
{
	struct ivl_work *next = worker->next;

	if (!next)
		return ivl_take(worker);
	worker->next = NULL;
	return next;
}

/* To the mailbox of a place. */
void ivl_post(ivl_runtime *runtime, struct ivl_work *work, const struct ivl_place *place);
/* Any worker of the place with a free stack runs it. */
void ivl_post_stackless(struct ivl_worker *worker, struct ivl_work *work);

/*
 * The place states whose mailboxes the worker serves: number 0 is its own, then the enclosing ones.
 * With cross_place the rest of the places follow, some a second time.
 */
unsigned int ivl_place_state_count(const struct ivl_worker *worker);
struct ivl_place_state *ivl_place_state_at(struct ivl_worker *worker, unsigned int number);

bool ivl_place_has_mail(struct ivl_place_state *state);
/* In a mailbox that the worker serves. */
bool ivl_has_mail(struct ivl_worker *worker);
/* In any mailbox. */
static inline bool ivl_mail_there(const struct ivl_worker *worker)
{
	return __builtin_expect(atomic_load_explicit(&worker->runtime->attention,
						     memory_order_relaxed) >= IVL_MAIL, 0);
}
/* Of high priority, at any place. */
static inline bool ivl_high_there(const struct ivl_worker *worker)
{
	return __builtin_expect(atomic_load_explicit(&worker->runtime->high,
						     memory_order_relaxed) != 0, 0);
}
/* Of high priority, in a mailbox that the worker serves. */
bool ivl_has_high(struct ivl_worker *worker);
/* Has mail waited for as long as it may? */
bool ivl_mail_waited(struct ivl_worker *worker);
static inline bool ivl_mail_due(struct ivl_worker *worker)
{
	return ivl_mail_there(worker) && ivl_mail_waited(worker);
}

#endif
