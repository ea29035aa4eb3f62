/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Deadlocks that a runtime can see (config.deadlock_ms): all workers are asleep, there is no work,
 * and each waiting task waits for something that only tasks can bring about: children, asyncs or
 * points of the same runtime, or a mutex of a waiting task. If one task waits for anything else, a
 * thread outside may wake it, and nothing is reported.
 *
 * The last worker to go to sleep looks, after that time. Meanwhile a worker that wakes up waits at
 * the gate. Both sides have a full fence between their store and their load:
 *
 *	looking worker			waking worker
 *	closed = true			attention - 1
 *	attention: do all sleep?	closed: then wait
 */
#ifndef IVL_DEADLOCK_H
#define IVL_DEADLOCK_H

#include "worker.h"

/* What describe() of struct ivl_awaited reads, and the text it appends to. */
struct ivl_inspection {
	ivl_runtime *runtime;
	const struct ivl_fiber *last;	/* newest; linked by `made`; `publish`: it waits */
	char words[512];
	size_t used;
};
void ivl_inspection_say(struct ivl_inspection *inspection, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The ways to wait, each with its description. */
bool ivl_publish_sync(void *scope, struct ivl_waiter *waiter);
bool ivl_describe_sync(const void *scope, struct ivl_inspection *inspection);
bool ivl_publish_finish(void *finish, struct ivl_waiter *waiter);
bool ivl_describe_finish(const void *finish, struct ivl_inspection *inspection);
bool ivl_publish_join(void *joiner, struct ivl_waiter *waiter);
bool ivl_describe_join(const void *joiner, struct ivl_inspection *inspection);
/* guard.c: the guard that it waits for, and the guard's holder. False: none. */
bool ivl_describe_guard(const struct ivl_interval *interval, struct ivl_inspection *inspection);
void ivl_describe_task(const struct ivl_fiber *fiber, struct ivl_inspection *inspection);

/* If config.deadlock_ms is set. 0 or ENOMEM. */
int ivl_deadlock_create(ivl_runtime *runtime);
void ivl_deadlock_destroy(struct ivl_deadlock *deadlock);

/* By the last worker awake, at its base, which has slept that long and still counts as asleep. */
void ivl_deadlock_look(struct ivl_worker *worker);
/* By a worker that no longer counts as asleep. */
void ivl_deadlock_gate(struct ivl_deadlock *deadlock);
/* Like ivl_serve_stackless(), excluding a search for deadlocks. */
bool ivl_deadlock_serve_stackless(ivl_runtime *runtime);

#endif
