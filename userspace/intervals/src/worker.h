/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A worker: one thread of a runtime. run_queue.h has its queue, find.h the search for work,
 * switching.h the switches between fibers.
 *
 * A worker's thread begins at its base, the stack that the system gave it. There it looks for work
 * and runs each piece on a fiber. A fiber whose work has ended takes more from its worker's queue,
 * and returns to the base when the queue is empty or when it must wait. The base runs no work
 * itself and never waits: work on top of a waiting context could be what the context waits for.
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
 * Counts that a worker has not published yet, though a context waits for them: it publishes many at
 * once. In the worker's list while there is something to publish.
 */
struct ivl_deferred {
	struct ivl_deferred *next;
	const void *from;		/* the waiting finish or interval; NULL: nothing deferred */
	/* Publish and remove from the list. `leaves`: as in struct ivl_batch (model.h). */
	void (*tell)(struct ivl_worker *worker, bool leaves);
};

/* Counts of the finish `from`, taken ahead and not used (finish.c). */
struct ivl_finish_reserve {
	struct ivl_deferred held;
	unsigned int count;
};

/* Ended children of the interval `from` that have not been reported (interval.c). */
struct ivl_ended {
	struct ivl_deferred held;
	unsigned int count;
	unsigned int references;	/* to `from`, taken ahead */
};

/* What the next context must do for the fiber that was left. */
struct ivl_after {
	struct ivl_fiber *over;		/* it has ended */
	struct ivl_fiber *waits;	/* it waits: publish it */
};

/* finish.c: start an async, by policy. 0 or ENOMEM. */
typedef int ivl_start_async(struct ivl_worker *worker, struct ivl_finish *finish,
			    ivl_function *function, const void *arg, size_t bytes,
			    const ivl_place *place);
extern ivl_start_async *const ivl_async_starts[IVL_POLICIES];

struct ivl_worker {
	/* Used by its own thread only. */
	struct ivl_open_ring *deque;	/* the pool's deque if it can be used directly, else NULL */
	struct ivl_pool *pool;
	struct ivl_fiber *fiber;	/* running */
	struct ivl_work *next;		/* to run before the queue, or NULL */
	struct ivl_fiber *free;
	struct ivl_exceptions *exceptions;	/* of its thread; NULL: no C++ */
	unsigned int returned;		/* fibers put back since `free` was last trimmed */
	unsigned int passed;		/* chances to look for mail that were passed over */
	bool mail_first;		/* take mail next */
	bool spawns_work_first;		/* policy for spawns */
	bool help_first;		/* present choice of the adaptive policy */
	ivl_start_async *start_async;	/* policy for asyncs */
	unsigned int until;		/* adaptive asyncs left before the next review */
	uint64_t lost_before;		/* `lost` at the last review */
	struct ivl_after after;
	struct ivl_deferred *held;
	struct ivl_finish_reserve reserve;
	struct ivl_ended ended;
	uint64_t stolen_ns;		/* when the running work was stolen; 0: it was not */
	struct ivl_steal_backoff steal_backoff;
	struct ivl_magazines asyncs;
	struct ivl_statistics *statistics;	/* NULL: not counted */
	struct ivl_watch *watch;	/* watch/watch.h; NULL: not watched */
	ivl_runtime *runtime;
	struct ivl_chooser *chooser;
	struct ivl_stealability *mask;	/* NULL: not used */
	const struct ivl_place *place;
	struct ivl_fiber base;
	unsigned int number;
	struct ivl_magazines intervals, edges;
	struct ivl_external *external;		/* of a thread that is not the runtime's, or NULL */
	struct ivl_tied *tied;	/* where tasks stay in their thread, else NULL */
	unsigned int exclusive;		/* exclusive waits in its thread (attach.h) */
	bool exclusion_lifted;		/* all workers wait: other work may run all the same */
	pthread_t thread;
	struct ivl_feedback *feedback;	/* NULL: never throttled */
	/* Written by its thread only; see IVL_AT_WORK. */
	_Atomic(uint64_t) worked;
	struct ivl_statistics counts;

	/* Written by thieves: how often they stole from this worker. */
	_Alignas(IVL_LINE) _Atomic(uint64_t) lost;
};

/*
 * For a worker that may be throttled, ivl_worker.worked is twice its busy time in ns. While it is
 * busy, the start time is subtracted and the value is odd.
 */
#define IVL_AT_WORK UINT64_C(1)

/* Sleepers of a leaf, or of one worker that sleeps alone. */
struct ivl_sleepers {
	_Atomic(unsigned int) asleep;
	struct ivl_eventcount eventcount;
};

/* Of a worker whose tasks are tied to its thread: where they become ready, and where it sleeps. */
struct ivl_tied {
	struct ivl_worker *worker;
	struct ivl_sleepers sleepers;
	struct ivl_mailbox returning;	/* ready fibers of this worker */
	struct ivl_mailbox first;	/* those in exclusive waits (attach.h) */
};

/* State shared by the workers of a place; an inner place uses only the mailboxes. */
struct ivl_place_state {
	struct ivl_mailbox mailbox;	/* work for this place */
	struct ivl_mailbox high;	/* work of high priority */
	struct ivl_mailbox stackless;	/* work that found no stack */
	/* Workers that search and do not sleep; see idle.c. */
	_Alignas(IVL_LINE) _Atomic(unsigned int) searching;
	struct ivl_sleepers sleepers;
	struct ivl_timed_sleep timed_sleep;
};

/* In ivl_runtime.attention: one piece of mail. */
#define IVL_MAIL (UINT64_C(1) << 32)

struct ivl_runtime {
	struct ivl_config config;
	struct ivl_topology *topology;
	struct ivl_worker *workers;
	_Atomic(struct ivl_external *) externals;	/* list of external workers */
	struct ivl_tied *tied_workers;	/* if config.tied: by worker number; else NULL */
	struct ivl_place_state *place_states;		/* by place number */
	struct ivl_stacks *stacks;
	struct ivl_deadlock *deadlock;	/* NULL: not looked for */
	_Atomic(unsigned int) fibers_before;	/* fibers made before the statistics were reset */
	unsigned int fibers_kept;	/* a worker keeps up to twice as many free fibers */
	struct ivl_stealability *mask;
	struct ivl_depot asyncs;
	struct ivl_pool *shared;	/* queue of all workers; NULL: each has its own */
	struct ivl_feedback *feedback;	/* NULL: no worker is throttled */
	void *model;
	pid_t process;			/* that started it */
	bool watched;			/* its workers are traced */
	bool threadless;			/* all its threads are attached (attach.h) */
	void (*no_stack)(void);		/* see ivl_start_threadless() */
	_Atomic(bool) oversubscribed;		/* see ivl_attach_oversubscribed() */
	pthread_mutex_t gate;		/* closed until ivl_start() has succeeded or failed */
	bool failed;			/* the threads at the gate must end */
	unsigned int threads;		/* created, for the first workers */
	_Alignas(IVL_LINE) _Atomic(unsigned int) turn;	/* next place for work from outside */
	_Atomic(unsigned int) submitters;	/* in ivl_submit_begin() to _end() */
	/* All that a spawn reads. Lower half: sleeping workers; upper half: see IVL_MAIL. */
	_Alignas(IVL_LINE) _Atomic(uint64_t) attention;
	_Atomic(unsigned int) high;	/* work of high priority; also counted as mail */
	_Atomic(unsigned int) all_asleep;	/* `attention` (lower half) if all sleep */
	_Atomic(unsigned int) refused;	/* work refused because there was no stack */
	_Atomic(bool) stopping;
};

extern __thread struct ivl_worker *ivl_worker_self __attribute__((tls_model("initial-exec")));

/*
 * The calling thread's worker; NULL: a foreign thread. A fiber may resume in another thread after
 * any switch, so the compiler must not cache the address of a thread-local variable: this is opaque
 * to it.
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

/* The worker begins to defer counts of this kind for `from`. */
static inline void ivl_defer(struct ivl_worker *worker, struct ivl_deferred *held, const void *from,
			    void (*tell)(struct ivl_worker *worker, bool leaves))
{
	held->from = from;
	held->tell = tell;
	held->next = worker->held;
	worker->held = held;
}

/* The counts have been published. */
void ivl_deferred_remove(struct ivl_worker *worker, struct ivl_deferred *held);

/* What waits for this work; NULL: nothing that takes deferred counts. */
static inline const void *ivl_awaited_by(const struct ivl_work *work)
{
	const size_t at = work->kind->awaited_by;

	return at ? *(void *const *)((const char *)work + at) : NULL;
}

/* Publish all but the counts of `one`. True: something was published. */
bool ivl_flush_deferred_except(struct ivl_worker *worker, const void *one, bool leaves);

/*
 * Before the worker runs `work`, or sleeps (NULL): publish its deferred counts, except those that
 * `work` adds to. True: something was published, and a waiter may be ready. `leaves`: the caller
 * looks at ivl_take_next() first, where such a waiter is.
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

/* runtime.c: without the mask of stealability. 0 or ENOMEM; destroy it in any case. */
int ivl_worker_init(struct ivl_worker *worker, ivl_runtime *runtime,
		    const struct ivl_place *place, unsigned int number);
void ivl_worker_destroy(struct ivl_worker *worker);

/* Does an exclusive wait keep the worker from all other work? */
static inline bool ivl_is_restricted(const struct ivl_worker *worker)
{
	return __builtin_expect(worker->exclusive != 0, 0) && !worker->exclusion_lifted;
}

/* external.c: is its thread's wait over, and may it continue? */
bool ivl_external_may_leave(const struct ivl_external *ext);
/* tied.c: `tied` is zeroed memory. */
void ivl_tied_init(struct ivl_tied *tied, struct ivl_worker *worker);
void ivl_tied_destroy(struct ivl_tied *tied);
/* Is a fiber ready that only this worker can resume, and may it? */
bool ivl_tied_returned(struct ivl_tied *tied);
/* Work that resumes it; NULL: none. By its thread. */
struct ivl_work *ivl_tied_take(struct ivl_tied *tied);
/* Make a tied waiter ready. Any thread. */
void ivl_tied_return(struct ivl_waiter *waiter);

/* Must the worker stop, because its thread's own wait is over? */
static inline bool ivl_leaves(const struct ivl_worker *worker)
{
	return __builtin_expect(worker->external != NULL, 0) &&
	       ivl_external_may_leave(worker->external);
}

/* Must a fiber tied to the worker be resumed? */
static inline bool ivl_returns(const struct ivl_worker *worker)
{
	return __builtin_expect(worker->tied != NULL, 0) && ivl_tied_returned(worker->tied);
}

/* Is there no point in looking for work any longer? */
static inline bool ivl_over(const struct ivl_worker *worker)
{
	return atomic_load_explicit(&worker->runtime->stopping, memory_order_relaxed) ||
	       ivl_leaves(worker);
}

/* The worker had work for `ns`, as other threads see it, and did none. */
static inline void ivl_idled(struct ivl_worker *worker, uint64_t ns)
{
	const uint64_t word = atomic_load_explicit(&worker->worked, memory_order_relaxed);

	if (word & IVL_AT_WORK)
		atomic_store_explicit(&worker->worked, word - 2 * ns, memory_order_relaxed);
}

/* __builtin_frame_address() would force a frame pointer on each caller. */
static inline char *ivl_stack_pointer(void);

/* Bytes left on the running fiber's stack. */
static inline size_t ivl_stack_left(struct ivl_worker *worker)
{
	return (size_t)(ivl_stack_pointer() - worker->fiber->lowest);
}

#endif
