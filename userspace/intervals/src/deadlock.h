/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Deadlocks that a runtime can see (config.deadlock_ms): all of its workers are asleep, there is no
 * work, and each task that waits does so for what only tasks can bring about: for children,
 * asyncs or points of the same runtime, a mutex that a waiting task has. Where one waits for
 * anything else, a thread outside may make it go on, and nothing is said.
 *
 * The last worker that goes to sleep looks, when the time is over. Meanwhile no other may work: one
 * that is woken waits at the gate. Both have a full fence between their store and their load:
 *
 *	who looks			who is woken
 *	closed = true			attention - 1
 *	attention: do all sleep?	closed: then wait
 */
#ifndef IVL_DEADLOCK_H
#define IVL_DEADLOCK_H

#include "worker.h"

/* What describe() of struct ivl_awaited is told, and adds words to. */
struct ivl_inspection {
	ivl_runtime *runtime;
	const struct ivl_fiber *last;	/* of all, by `made`; who has a `publish` waits */
	char words[512];
	size_t used;
};
void ivl_inspection_say(struct ivl_inspection *inspection, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* How tasks wait, each with what describes it. */
bool ivl_publish_sync(void *scope, struct ivl_waiter *waiter);
bool ivl_describe_sync(const void *scope, struct ivl_inspection *inspection);
bool ivl_publish_finish(void *finish, struct ivl_waiter *waiter);
bool ivl_describe_finish(const void *finish, struct ivl_inspection *inspection);
bool ivl_publish_join(void *joiner, struct ivl_waiter *waiter);
bool ivl_describe_join(const void *joiner, struct ivl_inspection *inspection);
/* guard.c: for which guard does it wait, and what holds that? False: for none. */
bool ivl_describe_guard(const struct ivl_interval *interval, struct ivl_inspection *inspection);
/* "interval A", or "a task of interval A". */
void ivl_describe_task(const struct ivl_fiber *fiber, struct ivl_inspection *inspection);

/* Where config.deadlock_ms asks for it. 0 or ENOMEM. */
int ivl_deadlock_create(ivl_runtime *runtime);
void ivl_deadlock_destroy(struct ivl_deadlock *deadlock);

/* By a worker at its base, asleep for that time as the last, which still counts as asleep. */
void ivl_deadlock_look(struct ivl_worker *worker);
/* By one that no longer counts as asleep. */
void ivl_deadlock_gate(struct ivl_deadlock *deadlock);
/* As ivl_serve_stackless(), while nobody looks. */
bool ivl_deadlock_serve_stackless(ivl_runtime *runtime);

#endif
