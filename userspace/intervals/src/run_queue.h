/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A worker's own queue, and the mailboxes: where work is put, and taken first. The calls
 * of scheduler.h that make work ready (ivl_submit() and others) are here, too.
 */
#ifndef IVL_RUN_QUEUE_H
#define IVL_RUN_QUEUE_H

#include "waking.h"
#include "worker.h"

/* Of what comes from outside, in turn. */
static inline const struct ivl_place *ivl_next_place(ivl_runtime *runtime)
{
	return ivl_place_at(runtime, atomic_fetch_add_explicit(&runtime->turn, 1,
							       memory_order_relaxed));
}

/* As ivl_put() and ivl_take(), whatever the queue is, and whoever wants to hear of it. */
int ivl_put_slowly(struct ivl_worker *worker, struct ivl_work *work);
struct ivl_work *ivl_take_slowly(struct ivl_worker *worker);

/* False: only ivl_put_slowly() can. */
static inline bool ivl_try_put(struct ivl_worker *worker, struct ivl_work *work)
{
	return __builtin_expect(worker->deque && ivl_chase_lev_try_put(worker->deque, work), 1);
}

/* Somebody should be awake for it: attend(worker), where there is something to see to; or 0. */
static inline int ivl_after_put(struct ivl_worker *worker, int (*wake_if_asleep)(struct ivl_worker *))
{
	/*
	 * No fence between the put and this load: a worker that goes to sleep
	 * has all CPUs of the process pass one (membarrier() in idle.c). The
	 * compiler must keep their order.
	 */
	atomic_signal_fence(memory_order_seq_cst);
	if (__builtin_expect(atomic_load_explicit(&worker->runtime->attention,
						  memory_order_relaxed) != 0, 0))
		return wake_if_asleep(worker);
	return 0;
}

/* Put work into the worker's own queue, and wake somebody for it; 0 or ENOMEM. */
static inline int ivl_put(struct ivl_worker *worker, struct ivl_work *work)
{
	return ivl_try_put(worker, work) ? ivl_after_put(worker, ivl_idle_wake_near) :
					   ivl_put_slowly(worker, work);
}

/* What was put last and not taken by others, or whatever the queue gives; NULL: none. */
static inline struct ivl_work *ivl_take(struct ivl_worker *worker)
{
	if (__builtin_expect(!worker->deque, 0))
		return ivl_take_slowly(worker);
	return (struct ivl_work *)ivl_chase_lev_take(worker->deque);
}

/* What ivl_submit_next() was told, or else as ivl_take(). */
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
/* Where work waits for a stack: who of this place has one begins it. */
void ivl_post_stackless(struct ivl_worker *worker, struct ivl_work *work);

/*
 * How many halls there are from whose mailboxes the worker takes: its own is number 0, then come
 * those of the places around it. With cross_place all others follow, and some a second time.
 */
unsigned int ivl_place_state_count(const struct ivl_worker *worker);
struct ivl_place_state *ivl_place_state_at(struct ivl_worker *worker, unsigned int number);

bool ivl_place_has_mail(struct ivl_place_state *state);
/* Is there work in a mailbox from which the worker takes? */
bool ivl_has_mail(struct ivl_worker *worker);
/* In any mailbox? */
static inline bool ivl_mail_there(const struct ivl_worker *worker)
{
	return __builtin_expect(atomic_load_explicit(&worker->runtime->attention,
						     memory_order_relaxed) >= IVL_MAIL, 0);
}
/* Of high priority, at any place? */
static inline bool ivl_high_there(const struct ivl_worker *worker)
{
	return __builtin_expect(atomic_load_explicit(&worker->runtime->high,
						     memory_order_relaxed) != 0, 0);
}
/* Where the worker takes from? */
bool ivl_has_high(struct ivl_worker *worker);
/* Has work been in a mailbox of the worker's for as long as it may wait? */
bool ivl_mail_waited(struct ivl_worker *worker);
static inline bool ivl_mail_due(struct ivl_worker *worker)
{
	return ivl_mail_there(worker) && ivl_mail_waited(worker);
}

#endif
