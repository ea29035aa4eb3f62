/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How many of its workers a runtime keeps awake, by what they made of the last quantum: A-STEAL
 * (Agrawal, He and Leiserson, "Adaptive Work Stealing with Parallelism Feedback", PPoPP 2007).
 * Documentation/intervals-protocols.rst has the protocol.
 *
 * There are the runtime's own threads in it; threads that have seats wait for work of their own,
 * and are not throttled.
 */
#ifndef IVL_FEEDBACK_H
#define IVL_FEEDBACK_H

#include "worker.h"

/* What is known of a quantum when it is over; times in ns, sums over all workers. */
struct ivl_quantum {
	unsigned int desire;		/* so many workers were to be awake */
	unsigned int workers;		/* that there are */
	uint64_t length;
	uint64_t worked;		/* while they had work */
	uint64_t ran;			/* of that: while they had a CPU, or were blocked */
};

/* The desire for the next one. */
unsigned int ivl_next_desire(const struct ivl_quantum *quantum);

/* Of a runtime's own workers, before they have threads. 0 or ENOMEM. */
int ivl_feedback_create(ivl_runtime *runtime);
void ivl_feedback_destroy(struct ivl_feedback *feedback);
/* The worker has a thread now; and, by that, its thread begins to work. */
void ivl_feedback_add(struct ivl_worker *worker);
void ivl_feedback_enter(struct ivl_worker *worker);

/* How many workers are wanted in this quantum, and how many quanta are over. Any thread. */
void ivl_feedback_ask(const ivl_runtime *runtime, struct ivl_statistics *statistics);
/* Counts quanta from now on. */
void ivl_feedback_forget(struct ivl_feedback *feedback);

/*
 * By a worker of which worker->feedback is not NULL.
 */

/* It has no work from now on, or has some again. */
void ivl_feedback_rest(struct ivl_worker *worker);
void ivl_feedback_resume(struct ivl_worker *worker);

/* Are more awake than wanted, and another one of its leaf? */
bool ivl_feedback_is_too_many(const struct ivl_worker *worker);

/*
 * It is to look for work. True: it is not, and sleeps instead (go_to_sleep() of idle.c); too many
 * are awake, and there is nothing to do, or another one naps. False: it may, perhaps after a nap.
 */
bool ivl_feedback_throttles(struct ivl_worker *worker, struct ivl_place_state *state);
/* It is counted as asleep, and was the last that was awake beside one that naps: that looks. */
void ivl_feedback_leave(struct ivl_worker *worker, struct ivl_place_state *state);

#endif
