/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The model of intervals: a tree of intervals with two points each, the edges
 * between points, guards, errors. Documentation/intervals-model.rst says what it
 * means; this header, how it is kept.
 *
 * An interval lives through these states, and never goes back:
 *
 *	WAIT	start.left > 0. The last one that start waits for takes it out.
 *	LOCK	start.left == 0, start.out open: it is in the queues of its guards.
 *	RUN	start.out closed, end.left holds OPEN: its body is ready, or runs.
 *	PAR	end.left > 0 without OPEN: its subintervals run.
 *	END	end.out closed. Memory stays until the last reference goes.
 *
 * An interval that must not begin goes from WAIT to PAR.
 *
 * Who may touch what:
 *  - A point that has not occurred keeps all points that come after it from
 *    occurring, and with them all their intervals and edges in memory. So whoever
 *    is inside an interval may follow edges from that interval's end without locks
 *    or references.
 *  - An interval's owner is the one context (struct ivl_local) that may write what is
 *    plain in it: until it is scheduled its maker's, while it runs its body's.
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
/* No worker may run any more. */
void ivl_model_destroy(void *model);

/*
 * An edge is in the list of the point it comes from. Its memory is in the interval
 * it leads to, as long as there is room, or a block of its own.
 */
struct ivl_edge {
	IVL_SHARED(struct ivl_edge *) next;
	_Atomic(uintptr_t) to;		/* struct ivl_point *, or with one of the marks */
};

/* Would have closed a cycle: nobody waits for it, but it keeps its target's memory. */
#define IVL_EDGE_DEAD ((uintptr_t)1)
/* No edge, but somebody who waits in ivl_join(); no address. */
#define IVL_EDGE_JOIN ((uintptr_t)2)

/* ivl_point.out of a point that has occurred. */
#define IVL_CLOSED ((struct ivl_edge *)1)

/* Part of ivl_point.left until the interval is scheduled (start), its body returns (end). */
#define IVL_OPEN (1 << 30)

/*
 * An error on its way: the number in the upper half, in the lower one how far it
 * goes: to no interval of that depth or less. 0: none.
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
	/* For how many things it waits, but for `expected` more that only the owner knows. */
	_Atomic(int32_t) left;
	IVL_SHARED(int32_t) expected;
	IVL_SHARED(bool) is_end;
};

struct ivl_defer;
struct ivl_reached;

struct ivl_interval {
	struct ivl_work work;
	struct ivl_point start, end;
	struct ivl_interval *parent;	/* NULL: the root */
	struct ivl_interval *jump;	/* around it, too, mostly several levels; the root: itself */
	struct ivl_model *model;
	ivl_body *body;
	void *arg;
	const ivl_place *place;
	/*
	 * The struct ivl_local of the owner; where a body's spawned part has made the
	 * interval, and it is not scheduled: that body's interval; or NULL.
	 */
	_Atomic(const void *) owner;
	IVL_SHARED(struct ivl_interval *) next;	/* among the made, or in a batch */
	/* Why nothing of it that has not begun may begin. */
	_Atomic(ivl_fault) cancel;
	/* The same, as somebody has found it around the interval; or when there was none. */
	_Atomic(ivl_fault) cancel_around;
	_Atomic(uint64_t) clean_at;	/* ivl_model.cancels; at first its parent's */
	struct ivl_defer *holds;		/* in the guards' order */
	char *name;
	struct ivl_reached *reached;	/* watch/watch.h; or NULL */
	/* Made inside it and not scheduled: by its body, and by what the body spawned. */
	IVL_SHARED(struct ivl_interval *) made;
	IVL_SHARED(struct ivl_interval *) made_last;
	_Atomic(struct ivl_interval *) made_elsewhere;
	_Atomic(unsigned int) refs;
	unsigned int depth;		/* 0: the root */
	IVL_SHARED(bool) started;
	IVL_SHARED(bool) keeps_parent;	/* has a reference to it */
	_Atomic(bool) contained;	/* its error does not fail its parent */
	_Atomic(bool) has_children;
	_Atomic(bool) entered;		/* an edge leads to one of its points */
	_Atomic(bool) outlasted;	/* asyncs of a group may go on when its body has returned */
	IVL_SHARED(bool) high;		/* its body comes before those that are not */
	IVL_SHARED(unsigned char) edges_used;
	struct ivl_edge edges[IVL_EDGES_INSIDE];
};

struct ivl_model {
	ivl_runtime *runtime;
	struct ivl_interval root;	/* has started, never ends */
	struct ivl_depot intervals, edges;
	_Atomic(uint64_t) guards;	/* made so far */
	/* How many intervals have got a `cancel`; while 0, nobody need look for one. */
	_Alignas(IVL_LINE) _Atomic(uint64_t) cancels;
	/* Of the last of these, each at its number: that in the upper half, and its depth. */
	_Atomic(uint64_t) cancelled[IVL_CANCELS_KEPT];
	/* An edge dies only here. */
	_Alignas(IVL_LINE) pthread_mutex_t lock;
};

/* memory.c: NULL: ENOMEM. */
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

static inline struct ivl_interval *ivl_interval_of(const struct ivl_point *point)
{
	const size_t offset = point->is_end ? offsetof(struct ivl_interval, end)
					    : offsetof(struct ivl_interval, start);

	return (struct ivl_interval *)((char *)point - offset);
}

/*
 * The interval, or the one around it, that has this depth, which is not more. In as many steps as
 * the depth has digits, by jumps over several levels (Myers, "An applicative random-access stack",
 * 1983).
 */
static inline struct ivl_interval *ivl_around_at(struct ivl_interval *interval, unsigned int depth)
{
	while (interval->depth > depth)
		interval = interval->jump->depth >= depth ? interval->jump : interval->parent;
	return interval;
}

/* Intervals of which a point waits for nothing more, and must occur. */
struct ivl_batch {
	struct ivl_interval *first, *last;
	/* The caller is going to return from run() or to wait: see ivl_submit_next(). */
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

/* interval.c: until none is left, of those that become ready by it neither. */
void ivl_settle(struct ivl_batch *batch);
/* It has its guards: its start occurs, and its body may run. */
void ivl_begin(struct ivl_interval *interval, struct ivl_batch *batch);

/* point.c: `count` of the things it waits for are over. */
void ivl_arrive(struct ivl_point *point, int32_t count, struct ivl_batch *batch);
/* What the owner had it wait for, and only the owner knew. */
void ivl_arrive_open(struct ivl_point *point, struct ivl_batch *batch);
/* One thing more to wait for. False: it waits for nothing, and may occur at any time. */
bool ivl_expect(struct ivl_point *point);
/* As ivl_expect(), of its start. False: the caller has not made it, or it is scheduled. */
bool ivl_expect_unscheduled(struct ivl_interval *interval);
/* And no more, after these. */
void ivl_expect_no_more(struct ivl_point *point);
/* An edge to a point of an interval that only the caller knows. */
void ivl_connect_new(struct ivl_point *from, struct ivl_point *to);
void ivl_occur(struct ivl_point *point, struct ivl_batch *batch);
/* Wait; returns the error. */
int ivl_wait_for(struct ivl_point *point);
/* For messages: "name.start". */
#define IVL_POINT_FORMAT "%s.%s"
#define IVL_POINT_WORDS(point) \
	ivl_title(ivl_interval_of(point)), (point)->is_end ? "end" : "start"
const char *ivl_title(const struct ivl_interval *interval);

static inline bool ivl_point_occurred(const struct ivl_point *point)
{
	/* Acquire: with ivl_occur(): what was written before the point. */
	return atomic_load_explicit(&point->out, memory_order_acquire) == IVL_CLOSED;
}

/* order.c: the innermost interval around both, which may be one of them. */
struct ivl_interval *ivl_common(struct ivl_interval *a, struct ivl_interval *b);
/* Does the tree alone say that one comes before the other? */
bool ivl_tree_before(const struct ivl_point *before, const struct ivl_point *after);
/* Is there a path? As ivl_search(); `from` cannot occur as long as the caller lets it not. */
int ivl_reaches(struct ivl_point *from, struct ivl_point *to);
/*
 * From the end of what the caller is inside of, which a group's async may outlast. To nothing
 * leads a path from what has occurred.
 */
int ivl_reaches_from_end(struct ivl_interval *current, struct ivl_point *point);
/*
 * Is it certain that no path leads to `from`, of an interval beside `to`, since no edge leads
 * to one of its points, and it has nothing inside? Who has made an edge to `to`, marked its
 * interval as entered, and then asks, is told no if others have come before.
 */
bool ivl_is_new(struct ivl_point *from, struct ivl_point *to);
/* As ivl_reaches(); may say that there is one when there is none. */
bool ivl_may_reach(struct ivl_point *from, struct ivl_point *to);
/*
 * As ivl_reaches(), by a search: 0, or EDEADLK: there is one, or ENOMEM: there was no room
 * to remember where one has been.
 */
int ivl_search(struct ivl_point *from, struct ivl_point *to);
/* Is it certain that the point does not occur as long as the caller does not let it? */
bool ivl_ahead(struct ivl_point *point);
/* As ivl_ahead(), but for what only ivl_expect() can tell. */
bool ivl_may_be_ahead(struct ivl_point *point);

/* fault.c */
void ivl_set_fault(struct ivl_point *point, ivl_fault fault);
/* An error at one point, seen from another that comes after it. */
void ivl_deliver(ivl_fault fault, struct ivl_point *from, struct ivl_point *to);
/* Unless it has one. */
void ivl_set_cancel(struct ivl_interval *interval, ivl_fault fault);
/* `now`: of ivl_model.cancels, which is not 0. */
ivl_fault ivl_look_for_cancel(struct ivl_interval *interval, uint64_t now);
/* Of the interval, or one around it. */
static inline ivl_fault ivl_find_cancel(struct ivl_interval *interval)
{
	/* Acquire, from ivl_set_cancel(). */
	const uint64_t now = atomic_load_explicit(&interval->model->cancels, memory_order_acquire);

	return now ? ivl_look_for_cancel(interval, now) : 0;
}

/* The interval fails by itself. */
void ivl_fail_interval(struct ivl_interval *interval, int error);

/* guard.c: as ivl_add_guard(), to an interval that cannot start meanwhile. */
int ivl_add_hold(struct ivl_interval *interval, struct ivl_guard *guard);
/* True: all are held. False: they will be, and then ivl_begin() is called. */
bool ivl_take_guards(struct ivl_interval *interval);
void ivl_leave_guards(struct ivl_interval *interval, struct ivl_batch *batch);
void ivl_free_holds(struct ivl_interval *interval);

#endif
