/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The model of intervals: a tree of intervals with two points each, edges between points, guards,
 * errors. Documentation/model.rst defines it.
 *
 * An interval goes through these states, and never back:
 *
 *	WAIT	start.left > 0. The last arrival ends this state.
 *	LOCK	start.left == 0, start.out open: queued for its guards.
 *	RUN	start.out closed, end.left holds OPEN: its body is ready or runs.
 *	PAR	end.left > 0 without OPEN: its subintervals run.
 *	END	end.out closed. The memory stays until the last reference goes.
 *
 * An interval that must not begin goes from WAIT to PAR.
 *
 *  - While a point has not occurred, no later point can occur, and all later points,
 *    their intervals and edges stay in memory. So code inside an interval may follow
 *    edges from that interval's end without locks or references.
 *  - An interval's owner is the one context (struct ivl_local) that may write its plain
 *    fields: its creator until it is scheduled, its body while that runs.
 */
#ifndef IVL_MODEL_H
#define IVL_MODEL_H

#include <stdint.h>

#include "atomics.h"
#include "blocks.h"
#include "guard_queue.h"
#include "worker.h"

/* For runtime.c. 0 or ENOMEM. */
int ivl_model_create(ivl_runtime *runtime, void **model);
/* When no worker runs any more. */
void ivl_model_destroy(void *model);

/*
 * An edge is in the list of its source. Its memory is in the target interval while there is room,
 * else a block of its own.
 */
struct ivl_edge {
	IVL_SHARED(struct ivl_edge *) next;
	_Atomic(uintptr_t) to;		/* struct ivl_point *, maybe with a mark */
};

/* Would close a cycle: it is not waited for, but keeps its target's memory. */
#define IVL_EDGE_DEAD ((uintptr_t)1)
/* Not an edge but a waiter in ivl_join(). */
#define IVL_EDGE_JOIN ((uintptr_t)2)

/* ivl_point.out of a point that has occurred. */
#define IVL_CLOSED ((struct ivl_edge *)1)

/* Part of ivl_point.left until the interval is scheduled (start), or its body returns (end). */
#define IVL_OPEN (1 << 30)

/*
 * An error in flight: its number in the upper half; in the lower half a depth: it reaches only
 * deeper intervals. 0: none.
 */
typedef uint64_t ivl_fault;

static inline ivl_fault ivl_fault_of(int error, unsigned int beyond)
{
	return (uint64_t)(uint32_t)error << 32 | beyond;
}

static inline int ivl_fault_error(ivl_fault fault)
{
	return (int)(uint32_t)(fault >> 32);
}

static inline unsigned int ivl_fault_beyond(ivl_fault fault)
{
	return (uint32_t)fault;
}

struct ivl_point {
	_Atomic(struct ivl_edge *) out;
	_Atomic(ivl_fault) fault;
	/* Things it waits for, less `expected`, which only the owner knows. */
	_Atomic(int32_t) left;
	IVL_SHARED(int32_t) expected;
	IVL_SHARED(bool) is_end;
};

struct ivl_hold;
struct ivl_reached;

struct ivl_interval {
	struct ivl_work work;
	struct ivl_point start, end;
	struct ivl_interval *parent;
	struct ivl_interval *jump;	/* several levels up, mostly; the root: itself */
	struct ivl_model *model;
	ivl_body *body;
	void *arg;
	const ivl_place *place;
	/*
	 * The owner's struct ivl_local. For an unscheduled interval that a spawned part of a body
	 * created: that body's interval. Else NULL.
	 */
	_Atomic(const void *) owner;
	IVL_SHARED(struct ivl_interval *) next;	/* among created ones, or in a batch */
	/* Why nothing inside may begin any more. */
	_Atomic(ivl_fault) cancel;
	/* The same for an enclosing interval, as last found. */
	_Atomic(ivl_fault) cancel_around;
	_Atomic(uint64_t) clean_at;	/* ivl_model.cancels when none was found */
	struct ivl_hold *holds;		/* in the guards' order */
	char *name;
	struct ivl_reached *reached;	/* watch/watch.h, or NULL */
	/* Created inside and not scheduled: by its body; by what the body spawned. */
	IVL_SHARED(struct ivl_interval *) made;
	IVL_SHARED(struct ivl_interval *) made_last;
	_Atomic(struct ivl_interval *) made_elsewhere;
	_Atomic(unsigned int) refs;
	unsigned int depth;
	IVL_SHARED(bool) started;
	IVL_SHARED(bool) keeps_parent;	/* holds a reference to it */
	_Atomic(bool) contained;	/* its error does not fail its parent */
	_Atomic(bool) has_children;
	_Atomic(bool) entered;		/* an edge leads to one of its points */
	_Atomic(bool) outlasted;	/* a group's asyncs may outlive its body */
	IVL_SHARED(bool) high;		/* high priority */
	IVL_SHARED(bool) submitted;	/* ivl_stop() waits for its end */
	IVL_SHARED(unsigned char) edges_used;
	struct ivl_edge edges[IVL_EDGES_INSIDE];
};

struct ivl_model {
	ivl_runtime *runtime;
	struct ivl_interval root;	/* has started, never ends */
	struct ivl_depot intervals, edges;
	_Atomic(uint64_t) guards;	/* created so far */
	/* Intervals with a `cancel`; 0: no need to look for one. */
	_Alignas(IVL_LINE) _Atomic(uint64_t) cancels;
	/* The last of these, at their numbers: number in the upper half, depth in the lower. */
	_Atomic(uint64_t) cancelled[IVL_CANCELS_KEPT];
	/* Held to mark an edge dead. */
	_Alignas(IVL_LINE) pthread_mutex_t lock;
};

/* memory.c. NULL: ENOMEM. */
struct ivl_interval *ivl_interval_get(struct ivl_model *model);
void ivl_interval_put(struct ivl_interval *interval);
struct ivl_edge *ivl_edge_get(struct ivl_model *model);
void ivl_edge_put(struct ivl_model *model, struct ivl_edge *edge);

/* ivl_local() without a call. */
static inline struct ivl_local *ivl_local_here(void)
{
	struct ivl_worker *worker = ivl_self();

	return worker ? &worker->fiber->local : ivl_local();
}

static inline bool ivl_is_root(const struct ivl_interval *interval)
{
	return !interval->depth;
}

static inline struct ivl_interval *ivl_interval_of(const struct ivl_point *point)
{
	const size_t offset = point->is_end ? offsetof(struct ivl_interval, end)
					    : offsetof(struct ivl_interval, start);

	return (struct ivl_interval *)((char *)point - offset);
}

/*
 * The enclosing interval of that depth, which is at most the interval's own. Logarithmic, by jumps
 * over several levels (Myers, "An applicative random-access stack", 1983).
 */
static inline struct ivl_interval *ivl_around_at(struct ivl_interval *interval, unsigned int depth)
{
	while (interval->depth > depth)
		interval = interval->jump->depth >= depth ? interval->jump : interval->parent;
	return interval;
}

/* Intervals with a point that waits for nothing more and must occur. */
struct ivl_batch {
	struct ivl_interval *first, *last;
	/* The caller is about to return from run() or to wait: see ivl_make_ready_next(). */
	bool leaves;
};

static inline void ivl_batch_add(struct ivl_batch *batch, struct ivl_interval *interval)
{
	interval->next = NULL;
	if (batch->first)
		batch->last->next = interval;
	else
		batch->first = interval;
	batch->last = interval;
}

/* interval.c: the last reference is gone. */
void ivl_interval_free(struct ivl_interval *interval);
/* Known only to the caller. NULL: ENOMEM. */
struct ivl_interval *ivl_make(struct ivl_interval *parent, const char *name, ivl_body *body,
			      void *arg, const ivl_place *place);
/*
 * Make the parent wait for the new interval. EINVAL, and the interval is freed: the parent has
 * ended, because another part of its body scheduled it.
 */
int ivl_adopt(struct ivl_interval *interval, const char *what);
/* The caller then returns from run(), or waits for the interval. */
void ivl_run_body(struct ivl_interval *interval, struct ivl_local *local);

/* settle.c: process the batch, and all that becomes ready by it. */
void ivl_settle(struct ivl_batch *batch);
/* It has its guards: its start occurs, and its body may run. */
void ivl_begin(struct ivl_interval *interval, struct ivl_batch *batch);

/* point.c: the point waits for `count` fewer things. */
void ivl_arrive(struct ivl_point *point, int32_t count, struct ivl_batch *batch);
/* The same for IVL_OPEN and what only the owner knew. */
void ivl_arrive_open(struct ivl_point *point, struct ivl_batch *batch);
/* One thing more to wait for. False: the point may occur at any time. */
bool ivl_expect(struct ivl_point *point);
/* ivl_expect() of its start. False: the caller has not created it, or it is scheduled. */
bool ivl_expect_unscheduled(struct ivl_interval *interval);
/* Undo one ivl_expect(). */
void ivl_expect_no_more(struct ivl_point *point);
/* An edge to a point of an interval that only the caller knows. */
void ivl_connect_new(struct ivl_point *from, struct ivl_point *to);
void ivl_occur(struct ivl_point *point, struct ivl_batch *batch);
/* Returns the point's error. */
int ivl_wait_for(struct ivl_point *point);
/* For messages: "name.start". */
#define IVL_POINT_FORMAT "%s.%s"
#define IVL_POINT_WORDS(point) \
	ivl_title(ivl_interval_of(point)), (point)->is_end ? "end" : "start"
const char *ivl_title(const struct ivl_interval *interval);

static inline bool ivl_point_occurred(const struct ivl_point *point)
{
	/* Acquire, from ivl_occur(): what was written before the point. */
	return atomic_load_explicit(&point->out, memory_order_acquire) == IVL_CLOSED;
}

/* order.c: the innermost interval that contains both; may be one of them. */
struct ivl_interval *ivl_common(struct ivl_interval *a, struct ivl_interval *b);
/* Does the tree alone order the points? */
bool ivl_tree_before(const struct ivl_point *before, const struct ivl_point *after);
/* Is there a path? Results as ivl_search(). The caller keeps `from` from occurring. */
int ivl_reaches(struct ivl_point *from, struct ivl_point *to);
/*
 * The same from the end of `current`, which a group's async may outlive; no path leads on from a
 * point that has occurred.
 */
int ivl_reaches_from_end(struct ivl_interval *current, struct ivl_point *point);
/*
 * Is it certain that no path leads to `from`, because its interval, beside `to`, has neither
 * incoming edges nor subintervals? Of callers that have added an edge and marked its target's
 * interval as entered, only the first may get true.
 */
bool ivl_is_new(struct ivl_point *from, struct ivl_point *to);
/* Like ivl_reaches(), but may err towards true. */
bool ivl_may_reach(struct ivl_point *from, struct ivl_point *to);
/* Search for a path: 0, EDEADLK if there is one, or ENOMEM. */
int ivl_search(struct ivl_point *from, struct ivl_point *to);
/* Is it certain that only the caller can let the point occur? */
bool ivl_ahead(struct ivl_point *point);
/* Like ivl_ahead(), as far as ivl_expect() need not be asked. */
bool ivl_may_be_ahead(struct ivl_point *point);

/* fault.c */
void ivl_set_fault(struct ivl_point *point, ivl_fault fault);
/* Pass an error from a point to a later one. */
void ivl_deliver(ivl_fault fault, struct ivl_point *from, struct ivl_point *to);
/* Unless it has one. */
void ivl_set_cancel(struct ivl_interval *interval, ivl_fault fault);
/* `now`: ivl_model.cancels, not 0. */
ivl_fault ivl_look_for_cancel(struct ivl_interval *interval, uint64_t now);
/* Of the interval or an enclosing one. */
static inline ivl_fault ivl_find_cancel(struct ivl_interval *interval)
{
	/* Acquire, from ivl_set_cancel(). */
	const uint64_t now = atomic_load_explicit(&interval->model->cancels, memory_order_acquire);

	return now ? ivl_look_for_cancel(interval, now) : 0;
}

void ivl_fail_interval(struct ivl_interval *interval, int error);

/* guard.c: ivl_add_guard() for an interval that cannot start meanwhile. */
int ivl_add_hold(struct ivl_interval *interval, struct ivl_guard *guard);
/* True: it holds all. False: ivl_begin() is called when it does. */
bool ivl_take_guards(struct ivl_interval *interval);
void ivl_leave_guards(struct ivl_interval *interval, struct ivl_batch *batch);
void ivl_free_holds(struct ivl_interval *interval);

#endif
