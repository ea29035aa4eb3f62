/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the layers above (intervals, finish, parallel_for) know of the scheduler:
 * work that is ready, and contexts that wait.
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

/* What the scheduler must know of work; one for each use of it. */
struct ivl_work_kind {
	/*
	 * Called once, on a fiber of a worker, unless it resumes. It may free what the work
	 * is embedded in, and may wait.
	 */
	void (*run)(struct ivl_work *work);
	/*
	 * Called in its place, where no stack can be had and what runs gives none back: the
	 * work ends without having run. It must not wait. NULL: it resumes.
	 */
	void (*refuse)(struct ivl_work *work);
	/*
	 * Where, from the work on, a pointer is to who is told of several at once (struct
	 * ivl_deferred); 0: there is none.
	 */
	size_t awaited_by;
	bool resumes;		/* run() makes a fiber go on, or ends all; it needs none itself */
	bool spawner;		/* it is one that has spawned: for the statistics */
};

/* Something ready to run, embedded in what it is for. */
struct ivl_work {
	const struct ivl_work_kind *kind;
	struct cds_wfcq_node node;	/* of a place's mailbox */
};

/*
 * Make work ready to run at a place, NULL or another runtime's: at the caller's, or in
 * turn at each where the caller is no worker of this runtime. Never fails: where the queue
 * cannot grow, the work goes through the place's mailbox. What was written
 * before is seen by run().
 */
void ivl_submit(ivl_runtime *runtime, struct ivl_work *work, const ivl_place *place);

/*
 * As ivl_submit(); and who takes work next, of those who may take this, takes it before all that
 * was not submitted so.
 */
void ivl_submit_high(ivl_runtime *runtime, struct ivl_work *work, const ivl_place *place);

/*
 * As ivl_submit(), by who is going to return from run() or to wait: the caller's
 * worker goes on with it, and nobody can take it away. Of several it goes on with
 * the last.
 */
void ivl_submit_next(ivl_runtime *runtime, struct ivl_work *work, const ivl_place *place);
/* Who was going to leave goes on itself: what it kept for its worker is others' too. */
void ivl_stay(void);

/*
 * What belongs to a running context, fiber or foreign thread, and is inherited by
 * what it spawns. The pointer stays the same as long as the context lives, on
 * whatever worker it runs; it must be asked for again after every call that may
 * run something else only if the context itself has ended.
 */
struct ivl_local {
	ivl_interval *interval;
	struct ivl_finish *finish;
	uint64_t task;			/* below */
	struct ivl_cell *cells;		/* what it keeps for itself (storage.c); or NULL */
};
struct ivl_local *ivl_local(void);

/*
 * ivl_local.task. The lowest bit: who runs the task looks at its cells when it has ended. All
 * above: its number, where it has asked for one (sync/mutex.h); or 0.
 *
 * A child that a sync calls by a jump has ended without anybody's noticing. A sync does so where
 * this is 0, and it is for tasks that have begun while the process had no key.
 */
#define IVL_TASK_WATCHED UINT64_C(1)
#define IVL_TASK_ONE (2 * IVL_TASK_WATCHED)

extern uint64_t ivl_watched;		/* what a task begins with: 0 or IVL_TASK_WATCHED */

static inline uint64_t ivl_task_begins(void)
{
	return __atomic_load_n(&ivl_watched, __ATOMIC_RELAXED);
}

/* The task that runs here has ended, and keeps something. It may wait. */
void ivl_end_cells(struct ivl_local *local);

static inline void ivl_task_ends(struct ivl_local *local)
{
	if (__builtin_expect(local->cells != NULL, 0))
		ivl_end_cells(local);
}

/* Where the model of intervals keeps what belongs to a runtime (model.h). */
void **ivl_runtime_model(ivl_runtime *runtime);

/* Asyncs of a group may go on in it when its body has returned. */
void ivl_outlast(ivl_interval *interval);

/* Was it started before a fork() of which this process is the child? It has no workers. */
bool ivl_is_parents(const ivl_runtime *runtime);

/* The runtime whose worker the caller is; NULL: a foreign thread. */
ivl_runtime *ivl_this_runtime(void);

/*
 * A context that waits: a suspended fiber, or a foreign thread in futex_wait().
 */
struct ivl_waiter;

/*
 * Stop the calling context, then call publish(arg, waiter), which makes the waiter
 * known to who will call ivl_wake() on it, once, possibly before publish() returns.
 * Where publish() returns false nobody will, and the context goes on at once.
 * publish() runs when the context's registers are saved: whoever wakes it may make
 * it go on elsewhere immediately. publish() must not wait or submit.
 */
void ivl_wait(bool (*publish)(void *arg, struct ivl_waiter *waiter), void *arg);

/*
 * What the calling task is going to wait for, until it says that it is nothing: for who looks for a
 * deadlock, and finds no more than a parker (sync/parker.h).
 */
struct ivl_awaited {
	const void *object;		/* NULL: nothing */
	/* Writes what it is. Can only tasks that wait make it come? deadlock.h */
	bool (*describe)(const void *object, struct ivl_inspection *inspection);
};
void ivl_tell_awaited(const void *object,
		      bool (*describe)(const void *object, struct ivl_inspection *inspection));
extern bool ivl_awaits_wanted;		/* by any runtime of the process */
static inline void ivl_awaits(const void *object,
			      bool (*describe)(const void *object,
					       struct ivl_inspection *inspection))
{
	if (__builtin_expect(__atomic_load_n(&ivl_awaits_wanted, __ATOMIC_RELAXED), 0))
		ivl_tell_awaited(object, describe);
}

/* The waiter goes on. What was written before is seen by it. Any thread. */
void ivl_wake(struct ivl_waiter *waiter);
/* As ivl_wake(), by who is going to return from run() or to wait. */
void ivl_wake_next(struct ivl_waiter *waiter);

/* Sets what ivl_last_error() returns; returns `error`. */
int ivl_error(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
