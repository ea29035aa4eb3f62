/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How many workers a runtime keeps awake, given what they did in the last quantum: A-STEAL
 * (Agrawal, He and Leiserson, "Adaptive Work Stealing with Parallelism Feedback", PPoPP 2007).
 * Documentation/design.rst has the protocol. External workers wait for work of their
 * own and are not throttled.
 */
#ifndef IVL_FEEDBACK_H
#define IVL_FEEDBACK_H

#include "worker.h"

/* A quantum that is over. Times in ns, summed over all workers. */
struct ivl_quantum {
	unsigned int desire;		/* workers that were to be awake */
	unsigned int workers;		/* of the runtime */
	uint64_t length;
	uint64_t worked;		/* with work */
	uint64_t ran;			/* of `worked`: on a CPU, or blocked */
};

/*
 * For a worker that may be throttled, ivl_worker.worked is twice its busy time in ns. While it is
 * busy, the start time is subtracted and the value is odd.
 */
#define IVL_AT_WORK UINT64_C(1)

/* The worker had work for `ns`, as other threads see it, and did none. */
static inline void ivl_idled(struct ivl_worker *worker, uint64_t ns)
{
	const uint64_t word = atomic_load_explicit(&worker->worked, memory_order_relaxed);

	if (word & IVL_AT_WORK)
		atomic_store_explicit(&worker->worked, word - 2 * ns, memory_order_relaxed);
}

/* The desire for the next quantum. */
unsigned int ivl_next_desire(const struct ivl_quantum *quantum);

/* Before the workers have threads. 0 or ENOMEM. */
int ivl_feedback_create(ivl_runtime *runtime);
void ivl_feedback_destroy(struct ivl_feedback *feedback);
/* The worker's thread exists; the thread, by itself, begins to work. */
void ivl_feedback_add(struct ivl_worker *worker);
void ivl_feedback_enter(struct ivl_worker *worker);

/* Reads the present desire and the number of quanta. Any thread. */
void ivl_feedback_ask(const ivl_runtime *runtime, struct ivl_statistics *statistics);
/* Count quanta from 0 again. */
void ivl_feedback_forget(struct ivl_feedback *feedback);

/* For workers with worker->feedback only. */

/* The worker becomes idle; becomes busy. */
void ivl_feedback_rest(struct ivl_worker *worker);
void ivl_feedback_resume(struct ivl_worker *worker);

/* Are more workers awake than desired, among them another one of its leaf? */
bool ivl_feedback_is_too_many(const struct ivl_worker *worker);

/*
 * Called before the worker searches, and may take a timed sleep. True: it must not search but sleep
 * (go_to_sleep() of idle.c), because too many workers are awake and there is no work, or another
 * one is in a timed sleep.
 */
bool ivl_feedback_throttles(struct ivl_worker *worker, struct ivl_place_state *state);
/* The worker counts as asleep. If only a timed sleeper is left awake in the leaf, wake it. */
void ivl_feedback_leave(struct ivl_worker *worker, struct ivl_place_state *state);

#endif
