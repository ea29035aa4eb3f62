/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * For a layer that brings its threads, and whose tasks stay in the thread in which they have
 * begun: OpenMP on this runtime (openmp/). Not in the public headers: what a program may
 * do here depends on what its threads are.
 *
 * Such a thread attends the runtime: it is a worker that goes on with its own code, on its own
 * stack, which is the worker's base. There it may spawn and sync, and ivl_wait(): as long as it
 * waits it runs tasks, on fibers, and nothing else makes it go on than what it waits for. A task
 * on a fiber that waits leaves its thread to other tasks, and goes on in that thread alone. So the
 * address of a thread-local variable stays what it is, whoever waits.
 */
#ifndef IVL_ATTACH_H
#define IVL_ATTACH_H

#include "fiber.h"
#include "scheduler.h"

struct ivl_worker;
struct ivl_external;

/*
 * As ivl_start(); it has no thread but those that attend. no_stack() is called when all who
 * attend wait, and there is no memory for the stack of a task that nobody else has begun. It
 * must not return: tasks may have scopes that nobody syncs, so that none can be given back.
 */
int ivl_start_threadless(const struct ivl_config *config, void (*no_stack)(void),
		       ivl_runtime **runtime);

/*
 * So many threads more may attend from now on, or fewer: a task without a stack waits for them
 * all. By one who does, or for all of them; fewer only when no task is left.
 */
void ivl_attach_expect(ivl_runtime *runtime, unsigned int count);
void ivl_attach_expect_fewer(ivl_runtime *runtime, unsigned int count);

/*
 * More threads are to run than there are CPUs, or that is over. In a crowd a thread that finds no
 * task sleeps at once, and each spawn pays for a fence. Called while there is no task, by a thread
 * that does not attend.
 */
void ivl_attach_oversubscribed(ivl_runtime *runtime, bool oversubscribed);

/* For one thread, which may attend more than one runtime; NULL: ENOMEM. Any thread. */
struct ivl_external *ivl_attach_prepare(ivl_runtime *runtime, unsigned int place);

/*
 * The calling thread, which is counted, is this worker from now on, on the stack on which it runs
 * now. Returns whose worker it was before, which stands still meanwhile; NULL: none.
 */
struct ivl_worker *ivl_attach(struct ivl_external *ext);
/* It is the one again that ivl_attach() returned; no task of the seat's may be left. */
void ivl_detach(struct ivl_worker *before);

/*
 * As ivl_wait(), on the base, until the word is not `value` any more. The thread may sleep on the
 * word: what changes it must wake all that do (ivl_futex_wake()). False: the system has no means
 * for that, and the call has not waited.
 */
bool ivl_attached_wait(const _Atomic(uint32_t) *word, uint32_t value);

/* Run one task, on a fiber, if there is any in the caller's queue or another's; base only. */
void ivl_attached_yield(void);
/* Are there so many tasks, more than 0, in the caller's own queue? */
bool ivl_attached_has_queued(size_t count);
/* Of high priority, in all of the runtime? */
bool ivl_attached_has_high(size_t count);
/*
 * As long as what runs here waits, its thread does nothing else: no task begins there, and none goes
 * on but what waits alone, too; unless all who attend the runtime wait, when one goes on with what
 * there is. For what holds a lock, or waits for one: a task beside it may block the thread for a lock
 * of which the runtime does not know. Returns what it was; base or task.
 */
bool ivl_attached_exclusive(bool exclusive);

/* Say what the caller's worker has counted and told nobody. */
void ivl_attached_flush(void);

/* As ivl_spawn(), in two steps: a child, by who will sync the scope; and it may run, by anybody. */
void ivl_spawn_prepare(struct ivl_scope *scope, struct ivl_task *task, ivl_function *function,
		       void *arg);
void ivl_spawn_prepared(ivl_runtime *runtime, struct ivl_task *task);

/*
 * Nobody will sync the scope: `waiter`'s work runs, on any worker of its runtime, when all of its
 * children have ended. True: they have, and it does not. By who spawned them, who has ended.
 */
bool ivl_scope_detach(struct ivl_scope *scope, struct ivl_waiter *waiter);

/* One more that the group waits for, by who may start an async in it; and one less. */
void ivl_group_add(struct ivl_group *group);
void ivl_group_done(struct ivl_group *group);

#endif
