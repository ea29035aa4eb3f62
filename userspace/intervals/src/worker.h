/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Workers: the threads of a runtime, and what each has. Where a worker puts work, and takes
 * it, is in run_queue.h; where else it finds some, in find.h; how it goes on from fiber to
 * fiber, in switching.h.
 *
 * A worker's thread begins on its base, the stack the system gave it. There it
 * looks for work, and runs what it finds on a fiber. A fiber whose work is over
 * runs what is in its worker's own queue, and goes back to the base when that is
 * empty; so does a fiber that must wait. The base runs nothing itself, and never
 * waits: on top of what waits there, work that it waits for could wait for it.
 */
#ifndef IVL_WORKER_H
#define IVL_WORKER_H

#include <arch.h>
#include <pool.h>
#include <pthread.h>

#include "atomics.h"
#include "blocks.h"
#include "eventcount.h"
#include "fiber.h"
#include "steal_backoff.h"
#include "mailbox.h"
#include "timed_sleep.h"
#include "place.h"
#include "scheduler.h"
#include "tunables.h"
#include "victim.h"

struct ivl_deadlock;
struct ivl_feedback;
struct ivl_worker;
struct ivl_watch;

/*
 * What a worker has counted and told nobody, though somebody waits for it: it tells many
 * at once. In the worker's list as long as there is something to tell.
 */
struct ivl_deferred {
	struct ivl_deferred *next;
	const void *from;		/* who waits for it; NULL: there is nothing */
	/* Tell, and take it out of the list. `leaves`: as in struct ivl_batch (model.h). */
	void (*tell)(struct ivl_worker *worker, bool leaves);
};

/* Counts of the finish `from` that the worker took ahead and has not used (finish.c). */
struct ivl_finish_reserve {
	struct ivl_deferred held;
	unsigned int count;
};

/* Children of the interval `from` that have ended, of which it has not heard (interval.c). */
struct ivl_ended {
	struct ivl_deferred held;
	unsigned int count;
	unsigned int references;	/* to it, taken ahead */
};

/* What the context that goes on must do for the one that was left. */
struct ivl_after {
	struct ivl_fiber *over;		/* this fiber has ended */
	struct ivl_fiber *waits;	/* this fiber waits: publish it */
};

/* Of finish.c: start an async, by each policy. 0 or ENOMEM. */
typedef int ivl_start_async(struct ivl_worker *worker, struct ivl_finish *finish,
			    ivl_function *function, const void *arg, size_t bytes,
			    const ivl_place *place);
extern ivl_start_async *const ivl_async_starts[IVL_POLICIES];

struct ivl_worker {
	/* Of its own thread alone. */
	struct ivl_open_ring *deque;	/* the pool's, where nothing stands between; else NULL */
	struct ivl_pool *pool;
	struct ivl_fiber *fiber;	/* that runs */
	struct ivl_work *next;		/* comes before what is in the queue; or NULL */
	struct ivl_fiber *free;
	struct ivl_exceptions *exceptions;	/* of its thread; NULL: no C++ */
	unsigned int returned;		/* fibers since it was seen to that these are not many */
	unsigned int passed;		/* how often it could have looked for mail that is there */
	bool mail_first;		/* it is its turn now */
	bool spawns_work_first;		/* the policy for spawns */
	bool help_first;		/* what the adaptive policy chooses at present */
	ivl_start_async *start_async;	/* by the policy for asyncs */
	unsigned int until;		/* adaptive asyncs left before the choice is looked at again */
	uint64_t lost_before;		/* `lost` when it was looked at last */
	struct ivl_after after;
	struct ivl_deferred *held;
	struct ivl_finish_reserve reserve;
	struct ivl_ended ended;
	uint64_t stolen_ns;		/* when what runs was stolen; 0: it was not */
	struct ivl_steal_backoff steal_backoff;
	struct ivl_magazines asyncs;
	struct ivl_statistics *statistics;	/* NULL: none are kept */
	struct ivl_watch *watch;	/* watch/watch.h; NULL: nobody watches */
	ivl_runtime *runtime;
	struct ivl_chooser *chooser;
	struct ivl_stealability *mask;	/* NULL: nobody asks for it */
	const struct ivl_place *place;
	struct ivl_fiber base;
	unsigned int number;
	struct ivl_magazines intervals, edges;
	struct ivl_external *external;		/* of a thread that is not the runtime's; or NULL */
	struct ivl_tied *tied;	/* where tasks stay in their thread; else NULL */
	unsigned int exclusive;		/* how many that have begun here wait alone (attach.h) */
	bool exclusion_lifted;		/* all workers wait: other work may run all the same */
	pthread_t thread;
	struct ivl_feedback *feedback;	/* feedback.h; NULL: it is never throttled */
	/* Written by itself alone: see IVL_AT_WORK. */
	_Atomic(uint64_t) worked;
	struct ivl_statistics counts;

	/* Of thieves: how often this worker was stolen from. */
	_Alignas(IVL_LINE) _Atomic(uint64_t) lost;
};

/*
 * ivl_worker.worked, of one that may be throttled, is twice the ns for which it had work; while it
 * has some, less the time at which that began, and odd.
 */
#define IVL_AT_WORK UINT64_C(1)

/* Those of a leaf, or one that has a seat. */
struct ivl_sleepers {
	_Atomic(unsigned int) asleep;
	struct ivl_eventcount eventcount;
};

/* Of a worker whose tasks stay in its thread: where those come back, and where it sleeps. */
struct ivl_tied {
	struct ivl_worker *worker;
	struct ivl_sleepers sleepers;
	struct ivl_mailbox returning;	/* fibers that can go on here alone */
	struct ivl_mailbox first;	/* those of them that have waited alone (attach.h) */
};

/* The workers of a place, together; those of an inner place have no more of it than mail. */
struct ivl_place_state {
	struct ivl_mailbox mailbox;	/* foreign work and work for this place */
	struct ivl_mailbox high;	/* what comes before all other work */
	struct ivl_mailbox stackless;	/* what was to be run when no stack was left */
	/* Workers that look for work and are not asleep; see idle.c. */
	_Alignas(IVL_LINE) _Atomic(unsigned int) searching;
	struct ivl_sleepers sleepers;
	struct ivl_timed_sleep timed_sleep;
};

/* In ivl_runtime.attention: one piece of work in a mailbox. */
#define IVL_MAIL (UINT64_C(1) << 32)

struct ivl_runtime {
	struct ivl_config config;
	struct ivl_topology *topology;
	struct ivl_worker *workers;
	_Atomic(struct ivl_external *) externals;	/* external.h */
	struct ivl_tied *tied_workers;	/* of config.tied: by a worker's number; else NULL */
	struct ivl_place_state *place_states;		/* one per place, by its number */
	struct ivl_stacks *stacks;
	struct ivl_deadlock *deadlock;	/* deadlock.h; NULL: it is not looked for */
	_Atomic(unsigned int) fibers_before;	/* of these, when the statistics were reset */
	unsigned int fibers_kept;	/* free ones by a worker, which has up to twice as many */
	struct ivl_stealability *mask;
	struct ivl_depot asyncs;
	struct ivl_pool *shared;	/* of all workers; NULL: each has its own */
	struct ivl_feedback *feedback;	/* NULL: no worker is throttled */
	void *model;
	pid_t process;			/* that started it */
	bool watched;			/* all of its workers are */
	bool threadless;			/* it has no threads but those of attach.h */
	void (*no_stack)(void);		/* of such a one: see ivl_start_threadless() */
	_Atomic(bool) oversubscribed;		/* of such a one: see ivl_attach_oversubscribed() */
	pthread_mutex_t gate;		/* closed until ivl_start() knows what becomes of its threads: */
	bool failed;			/* these end, for it has not started */
	unsigned int threads;		/* that it has made, of the first workers */
	_Alignas(IVL_LINE) _Atomic(unsigned int) turn;	/* the place of the next work from outside */
	_Atomic(unsigned int) submitters;	/* see ivl_submit_begin(), in waking.h */
	/* All that a spawn looks at: below, how many workers are asleep; above, see IVL_MAIL. */
	_Alignas(IVL_LINE) _Atomic(uint64_t) attention;
	_Atomic(unsigned int) high;	/* work of high priority; it is counted as mail, too */
	_Atomic(unsigned int) all_asleep;	/* what is below when none is awake */
	_Atomic(unsigned int) refused;	/* work that has not begun, as there was no stack */
	_Atomic(bool) stopping;
};

extern __thread struct ivl_worker *ivl_worker_self __attribute__((tls_model("initial-exec")));

/*
 * The calling thread's worker, NULL for a foreign one. A fiber may go on in
 * another thread after any switch, and the compiler must not remember the
 * address of a thread's variable from before; it cannot see through this.
 */
static inline struct ivl_worker *ivl_self(void);

#define ivl_count(worker, what) \
	do { \
		if ((worker)->statistics) \
			__atomic_store_n(&(worker)->statistics->what, \
					 __atomic_load_n(&(worker)->statistics->what, \
							 __ATOMIC_RELAXED) + 1, \
					 __ATOMIC_RELEASE); \
	} while (0)

/* From now on the worker has something to tell `from`; of this kind it had nothing. */
static inline void ivl_defer(struct ivl_worker *worker, struct ivl_deferred *held, const void *from,
			    void (*tell)(struct ivl_worker *worker, bool leaves))
{
	held->from = from;
	held->tell = tell;
	held->next = worker->held;
	worker->held = held;
}

/* It has been told. */
void ivl_deferred_remove(struct ivl_worker *worker, struct ivl_deferred *held);

/* Who waits for this work, too; NULL: nobody who is told of several. */
static inline const void *ivl_awaited_by(const struct ivl_work *work)
{
	const size_t at = work->kind->awaited_by;

	return at ? *(void *const *)((const char *)work + at) : NULL;
}

/* Tell all but this one. True: somebody was told. */
bool ivl_flush_deferred_except(struct ivl_worker *worker, const void *one, bool leaves);

/*
 * Before the worker runs `work`, or sleeps (NULL): others wait for what it has counted
 * for itself alone, unless `work` does too. True: somebody has heard, and may go on.
 * `leaves`: it takes ivl_take_next() first, where who may go on is.
 */
static inline bool ivl_flush_deferred(struct ivl_worker *worker, const struct ivl_work *work,
					 bool leaves)
{
	const struct ivl_deferred *held = worker->held;
	const void *awaited_by;

	if (!held)
		return false;
	awaited_by = work ? ivl_awaited_by(work) : NULL;
	if (held->from == awaited_by && !held->next)
		return false;
	return ivl_flush_deferred_except(worker, awaited_by, leaves);
}

/* runtime.c: not in the mask of stealability. 0 or ENOMEM; it is to be destroyed anyway. */
int ivl_worker_init(struct ivl_worker *worker, ivl_runtime *runtime,
		    const struct ivl_place *place, unsigned int number);
void ivl_worker_destroy(struct ivl_worker *worker);

/* Does what waits alone keep it from all else? */
static inline bool ivl_is_restricted(const struct ivl_worker *worker)
{
	return __builtin_expect(worker->exclusive != 0, 0) && !worker->exclusion_lifted;
}

/* external.c: has what its thread waits for come, and may it go on? */
bool ivl_external_may_leave(const struct ivl_external *ext);
/* tied.c: in zeroed memory; and its end. */
void ivl_tied_init(struct ivl_tied *tied, struct ivl_worker *worker);
void ivl_tied_destroy(struct ivl_tied *tied);
/* Has what a fiber waits for that can go on there alone, and may it? */
bool ivl_tied_returned(struct ivl_tied *tied);
/* What that makes go on; NULL: nothing. By its thread. */
struct ivl_work *ivl_tied_take(struct ivl_tied *tied);
/* What waited there, and can go on nowhere else, goes on. Any thread. */
void ivl_tied_return(struct ivl_waiter *waiter);

/* Must the worker do nothing more, so that its thread goes on with its own? */
static inline bool ivl_leaves(const struct ivl_worker *worker)
{
	return __builtin_expect(worker->external != NULL, 0) &&
	       ivl_external_may_leave(worker->external);
}

/* Must a fiber that can go on here alone do so? */
static inline bool ivl_returns(const struct ivl_worker *worker)
{
	return __builtin_expect(worker->tied != NULL, 0) && ivl_tied_returned(worker->tied);
}

/* Is there no use in looking for work any longer? */
static inline bool ivl_over(const struct ivl_worker *worker)
{
	return atomic_load_explicit(&worker->runtime->stopping, memory_order_relaxed) ||
	       ivl_leaves(worker);
}

/* For so long it had work, as others see it, and did none. */
static inline void ivl_idled(struct ivl_worker *worker, uint64_t ns)
{
	const uint64_t word = atomic_load_explicit(&worker->worked, memory_order_relaxed);

	if (word & IVL_AT_WORK)
		atomic_store_explicit(&worker->worked, word - 2 * ns, memory_order_relaxed);
}

/* __builtin_frame_address() would make a frame for every caller. */
static inline char *ivl_stack_pointer(void);

/* How many bytes of the running fiber's stack are left. */
static inline size_t ivl_stack_left(struct ivl_worker *worker)
{
	return (size_t)(ivl_stack_pointer() - worker->fiber->lowest);
}

#endif
