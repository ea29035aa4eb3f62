/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The scheduler's interface for the layers above (intervals, finish, parallel_for): ready work and
 * waiting contexts.
 */
#ifndef IVL_SCHEDULER_H
#define IVL_SCHEDULER_H

#include <stdbool.h>
#include <stddef.h>
#include <urcu/wfcqueue.h>

#include "intervals.h"

struct ivl_finish;
struct ivl_inspection;

struct ivl_work;

/* One per use of work. */
struct ivl_work_kind {
	/*
	 * Called once, on a fiber unless `resumes`. May wait, and may free the memory that embeds
	 * the work.
	 */
	void (*run)(struct ivl_work *work);
	/*
	 * Called instead of run() when no stack can be had: the work ends without having run. Must
	 * not wait. NULL if `resumes`.
	 */
	void (*refuse)(struct ivl_work *work);
	/*
	 * While all workers sleep: refuse() runs it at once on the stack of its waiter, which waits for
	 * nothing else. NULL: never.
	 */
	bool (*runs_at_waiter)(const struct ivl_work *work);
	/*
	 * Offset from the work to the pointer of the finish or interval that waits for it (struct
	 * ivl_deferred); 0: none.
	 */
	size_t awaited_by;
	bool resumes;		/* run() only resumes a fiber: it needs no stack */
	bool spawner;		/* a suspended spawner, for the statistics */
};

/* Ready work, embedded in what it runs. */
struct ivl_work {
	const struct ivl_work_kind *kind;
	struct cds_wfcq_node node;	/* in a mailbox */
};

/*
 * Make work ready at a place. NULL, or a place of another runtime: the caller's place, or each in
 * turn if the caller is no worker of this runtime. Never fails: if the queue cannot grow, the work
 * goes through the place's mailbox. run() sees what was written before.
 */
void ivl_make_ready(ivl_runtime *runtime, struct ivl_work *work, const ivl_place *place);

/* Like ivl_make_ready(); workers take such work before all other. */
void ivl_make_ready_high(ivl_runtime *runtime, struct ivl_work *work, const ivl_place *place);

/*
 * Like ivl_make_ready(), by a caller that is about to return from run() or to wait: its worker runs
 * the work next, and no thief can take it. A second call replaces the first, whose work becomes
 * ready for all.
 */
void ivl_make_ready_next(ivl_runtime *runtime, struct ivl_work *work, const ivl_place *place);
/* The caller does not leave after all: submit what ivl_make_ready_next() kept. */
void ivl_stay(void);

/*
 * State of a running context (fiber or foreign thread), inherited by what it spawns. Its address is
 * constant while the context lives, whatever worker runs it.
 */
struct ivl_local {
	ivl_interval *interval;
	struct ivl_finish *finish;
	uint64_t task;			/* see IVL_TASK_WATCHED */
	struct ivl_cell *cells;		/* task-local values (storage.c), or NULL */
};
struct ivl_local *ivl_local(void);

/*
 * ivl_local.task. Lowest bit: the task's cells are looked at when it ends. Upper bits: its number
 * if it has one (sync/mutex.h), else 0.
 *
 * Where the field is 0, ivl_sync() calls a child without noticing its end. It is 0 for tasks that
 * began while the process had no key.
 */
#define IVL_TASK_WATCHED UINT64_C(1)
#define IVL_TASK_ONE (2 * IVL_TASK_WATCHED)

extern uint64_t ivl_watched;		/* initial value of ivl_local.task: 0 or IVL_TASK_WATCHED */

static inline uint64_t ivl_task_begins(void)
{
	return __atomic_load_n(&ivl_watched, __ATOMIC_RELAXED);
}

/* The running task has ended and has cells. May wait. */
void ivl_end_cells(struct ivl_local *local);

static inline void ivl_task_ends(struct ivl_local *local)
{
	if (__builtin_expect(local->cells != NULL, 0))
		ivl_end_cells(local);
}

/* The runtime's slot for its model of intervals (model.h). */
void **ivl_runtime_model(ivl_runtime *runtime);

/* Asyncs of a group may run in the interval after its body has returned. */
void ivl_outlast(ivl_interval *interval);

/* Was the runtime started before a fork(), in the parent? Then it has no workers here. */
bool ivl_is_parents(const ivl_runtime *runtime);

/* NULL: the caller is a foreign thread. */
ivl_runtime *ivl_this_runtime(void);

/* A waiting context: a suspended fiber, or a foreign thread in futex_wait(). */
struct ivl_waiter;

/*
 * Suspend the calling context, then call publish(arg, waiter), which makes the waiter known to a
 * thread that calls ivl_wake() on it exactly once, possibly before publish() returns. If publish()
 * returns false, ivl_wake() is not called and the context continues. The context's registers are
 * saved before publish() runs, so it may resume elsewhere at once. publish() must not wait or
 * submit.
 */
void ivl_wait(bool (*publish)(void *arg, struct ivl_waiter *waiter), void *arg);

/*
 * What the calling task is about to wait for, for the report of a deadlock; a parker
 * (sync/parker.h) does not tell.
 */
struct ivl_awaited {
	const void *object;
	/* Describes it; true if only tasks can end the wait (deadlock.h). */
	bool (*describe)(const void *object, struct ivl_inspection *inspection);
};
void ivl_tell_awaited(const void *object,
		      bool (*describe)(const void *object, struct ivl_inspection *inspection));
extern bool ivl_awaits_wanted;		/* some runtime of the process looks for deadlocks */
static inline void ivl_awaits(const void *object,
			      bool (*describe)(const void *object,
					       struct ivl_inspection *inspection))
{
	if (__builtin_expect(__atomic_load_n(&ivl_awaits_wanted, __ATOMIC_RELAXED), 0))
		ivl_tell_awaited(object, describe);
}

/* Resume the waiter, which sees what was written before. Any thread. */
void ivl_wake(struct ivl_waiter *waiter);
/* Like ivl_wake(), by a caller that is about to return from run() or to wait. */
void ivl_wake_next(struct ivl_waiter *waiter);

/* Sets the text of ivl_last_error(); returns `error`. */
int ivl_error(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
