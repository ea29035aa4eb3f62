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
#include "fiber.h"
#include "finish.h"
#include "place.h"
#include "runtime.h"
#include "scheduler.h"
#include "settle.h"
#include "steal_backoff.h"
#include "tied.h"
#include "tunables.h"
#include "victim.h"

struct ivl_feedback;
struct ivl_watch;

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
	struct ivl_async_policy policy;
	struct ivl_after after;
	struct ivl_deferred *deferred;	/* counts not published yet */
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
	struct ivl_fiber *above;	/* called by the base, which waits for its return; or NULL */
	unsigned int number;
	struct ivl_magazines intervals, edges;
	struct ivl_external *external;	/* of a thread that is not the runtime's, or NULL */
	struct ivl_tied *tied;		/* if config.tied, else NULL */
	unsigned int exclusive;		/* exclusive waits in its thread (attach.h) */
	bool exclusion_lifted;		/* all workers wait: other work may run all the same */
	pthread_t thread;
	struct ivl_feedback *feedback;	/* NULL: never throttled */
	/* Written by its thread only; see feedback.h. */
	_Atomic(uint64_t) worked;
	struct ivl_statistics counts;

	/* Written by thieves: how often they stole from this worker. */
	_Alignas(IVL_LINE) _Atomic(uint64_t) lost;
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

/* runtime.c: without the mask of stealability. 0 or ENOMEM; destroy it in any case. */
int ivl_worker_init(struct ivl_worker *worker, ivl_runtime *runtime,
		    const struct ivl_place *place, unsigned int number);
void ivl_worker_destroy(struct ivl_worker *worker);

/* Does an exclusive wait keep the worker from all other work? */
static inline bool ivl_is_restricted(const struct ivl_worker *worker)
{
	return __builtin_expect(worker->exclusive != 0, 0) && !worker->exclusion_lifted;
}

/* Is its thread's wait over, and may it continue? */
bool ivl_external_may_leave(const struct ivl_external *ext);

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

/* __builtin_frame_address() would force a frame pointer on each caller. */
static inline char *ivl_stack_pointer(void);

/* Bytes left on the running fiber's stack. */
static inline size_t ivl_stack_left(struct ivl_worker *worker)
{
	return (size_t)(ivl_stack_pointer() - worker->fiber->lowest);
}

#endif
