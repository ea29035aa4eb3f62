/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * For a layer that brings its own threads and ties each task to the thread in which it began:
 * OpenMP (openmp/). Internal, because it makes demands on the threads.
 *
 * An attached thread is a worker whose base is the thread's own stack and code. There it may spawn,
 * sync and ivl_wait(). While it waits it runs tasks, each on a fiber, and returns only when its own
 * condition holds. A task that waits leaves the thread to other tasks and resumes in that thread
 * only, so that addresses of thread-local variables stay valid.
 */
#ifndef IVL_ATTACH_H
#define IVL_ATTACH_H

#include "fiber.h"
#include "scheduler.h"

struct ivl_worker;
struct ivl_external;

/*
 * Like ivl_start(), for a runtime whose only threads are attached ones. no_stack() is called when
 * all attached threads wait and there is no memory for the stack of a task that has not begun. It
 * must not return: such a task cannot be refused, since its scope may be detached.
 */
int ivl_start_threadless(const struct ivl_config *config, void (*no_stack)(void),
		       ivl_runtime **runtime);

/*
 * Add or remove `count` threads that attach. Called by an attached thread or for all of them.
 * Remove only when no task is left.
 */
void ivl_attach_expect(ivl_runtime *runtime, unsigned int count);
void ivl_attach_expect_fewer(ivl_runtime *runtime, unsigned int count);

/*
 * Set whether more threads run than there are CPUs. If so, a thread that finds no task sleeps at
 * once, and each spawn pays for a fence. Call while there is no task, from a thread that is not
 * attached.
 */
void ivl_attach_oversubscribed(ivl_runtime *runtime, bool oversubscribed);

/* The worker of one thread, which may attach to several runtimes. NULL: ENOMEM. Any thread. */
struct ivl_external *ivl_attach_prepare(ivl_runtime *runtime, unsigned int place);

/*
 * Make the calling thread this worker, on its present stack; count it with ivl_attach_expect()
 * first. Returns the thread's previous worker, which is suspended until ivl_detach(), or NULL.
 */
struct ivl_worker *ivl_attach(struct ivl_external *ext);
/* Restore the worker that ivl_attach() returned. No task of the present one may be left. */
void ivl_detach(struct ivl_worker *before);

/*
 * Like ivl_wait(), at the base, until the word differs from `value`. The thread may sleep on the
 * word: every change must wake all of its sleepers (ivl_futex_wake()). Returns false, without
 * waiting, where the kernel lacks futex_waitv().
 */
bool ivl_attached_wait(const _Atomic(uint32_t) *word, uint32_t value);

/* Run one task on a fiber, if there is one. At the base only. */
void ivl_attached_yield(void);
/* Are there at least `count` (more than 0) tasks in the caller's own queue? */
bool ivl_attached_has_queued(size_t count);
/* The same for tasks of high priority in the whole runtime. */
bool ivl_attached_has_high(size_t count);
/*
 * While an exclusive context waits, its thread begins no task and resumes only exclusive ones,
 * unless all attached threads wait. For a task that holds a lock or waits for one: another task in
 * the same thread could block on a lock that the runtime does not know. Returns the previous
 * setting. For the base or a task.
 */
bool ivl_attached_exclusive(bool exclusive);

/* Publish the counts that the caller's worker has deferred. */
void ivl_attached_flush(void);

/*
 * ivl_spawn() in two steps: count the child (by the task that will sync the scope), then let it run
 * (any thread).
 */
void ivl_spawn_prepare(struct ivl_scope *scope, struct ivl_task *task, ivl_function *function,
		       void *arg);
void ivl_spawn_prepared(ivl_runtime *runtime, struct ivl_task *task);

/*
 * Detach the scope: when all of its children have ended, `waiter`'s work runs on any worker. Called
 * by the task that spawned them, which has ended. Returns true if the children have ended already;
 * then the work does not run.
 */
bool ivl_scope_detach(struct ivl_scope *scope, struct ivl_waiter *waiter);

/* Add a task to the group (by a task that may start an async in it), and take it away again. */
void ivl_group_add(struct ivl_group *group);
void ivl_group_done(struct ivl_group *group);

#endif
