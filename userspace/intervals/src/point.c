// SPDX-License-Identifier: LGPL-2.1-or-later
/* Points: edges, occurring, waiting. */
#include <errno.h>

#include <watch/names.h>
#include <watch/watch.h>

#include "deadlock.h"
#include "model.h"

const char *ivl_title(const struct ivl_interval *interval)
{
	return interval->name ? interval->name : "(unnamed)";
}

bool ivl_occurred(const ivl_point *point)
{
	return ivl_point_occurred(point);
}

void ivl_arrive(struct ivl_point *point, int32_t count, struct ivl_batch *batch)
{
	/*
	 * Release: the last arrival sees what was written before. Acquire: the last sees what was
	 * written before all others. Pairs with itself.
	 */
	if (atomic_fetch_sub_explicit(&point->left, count, memory_order_acq_rel) == count)
		ivl_batch_add(batch, ivl_interval_of(point));
}

void ivl_arrive_open(struct ivl_point *point, struct ivl_batch *batch)
{
	/*
	 * If nothing else was waited for, no other thread can add anything: it would have to be
	 * inside something that the point waits for. Acquire, from ivl_arrive(): what is over.
	 */
	if (!point->expected &&
	    atomic_load_explicit(&point->left, memory_order_acquire) == IVL_OPEN) {
		atomic_store_explicit(&point->left, 0, memory_order_relaxed);
		ivl_batch_add(batch, ivl_interval_of(point));
	} else {
		ivl_arrive(point, IVL_OPEN - point->expected, batch);
	}
}

static bool owns(const struct ivl_interval *interval)
{
	return atomic_load_explicit(&interval->owner, memory_order_relaxed) == ivl_local_here();
}

/* `own`: owns(), which does not change while the caller is here. */
static inline bool expect(struct ivl_point *point, bool own)
{
	int32_t left;

	if (own) {
		/* Arrivals have lowered `left` meanwhile; it must not become 0. */
		point->expected++;
		if (__builtin_expect(point->expected == IVL_OPEN / 4, 0)) {
			atomic_fetch_add_explicit(&point->left, IVL_OPEN / 4, memory_order_relaxed);
			point->expected = 0;
		}
		return true;
	}
	/* Relaxed: the caller knows that the point is ahead, or learns that it is not. */
	left = atomic_load_explicit(&point->left, memory_order_relaxed);
	do {
		if (!left)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(&point->left, &left, left + 1,
							memory_order_relaxed,
							memory_order_relaxed));
	return true;
}

static inline void expect_no_more(struct ivl_point *point, bool own)
{
	struct ivl_batch batch = { 0 };

	if (own) {
		point->expected--;
	} else {
		ivl_arrive(point, 1, &batch);
		ivl_settle(&batch);
	}
}

bool ivl_expect(struct ivl_point *point)
{
	return expect(point, owns(ivl_interval_of(point)));
}

bool ivl_expect_unscheduled(struct ivl_interval *interval)
{
	const struct ivl_local *local = ivl_local_here();
	const void *owner = atomic_load_explicit(&interval->owner, memory_order_relaxed);

	return owner && (owner == local ? !interval->started : owner == local->interval) &&
	       ivl_expect(&interval->start);
}

void ivl_expect_no_more(struct ivl_point *point)
{
	expect_no_more(point, owns(ivl_interval_of(point)));
}

static bool is_inside(const struct ivl_edge *edge, const struct ivl_interval *interval)
{
	return edge >= interval->edges && edge < interval->edges + IVL_EDGES_INSIDE;
}

static struct ivl_edge *get_edge(struct ivl_interval *target, bool own)
{
	if (own && target->edges_used < IVL_EDGES_INSIDE)
		return &target->edges[target->edges_used++];
	return ivl_edge_get(target->model);
}

/* Return the edge last got, which is in no list. */
static void unget_edge(struct ivl_interval *target, struct ivl_edge *edge)
{
	if (is_inside(edge, target))
		target->edges_used--;
	else
		ivl_edge_put(target->model, edge);
}

/* False: the point has occurred. */
static bool push(struct ivl_point *from, struct ivl_edge *edge)
{
	/* Acquire, also on failure: what was written before the point. */
	struct ivl_edge *newest = atomic_load_explicit(&from->out, memory_order_acquire);

	do {
		if (newest == IVL_CLOSED)
			return false;
		edge->next = newest;
		/* Release, to ivl_occur() and searches; for seq_cst see order.c. */
	} while (!atomic_compare_exchange_weak_explicit(&from->out, &newest, edge,
							memory_order_seq_cst,
							memory_order_acquire));
	return true;
}

void ivl_connect_new(struct ivl_point *from, struct ivl_point *to)
{
	struct ivl_interval *target = ivl_interval_of(to);
	struct ivl_edge *edge = &target->edges[target->edges_used];
	ivl_fault fault;

	atomic_store_explicit(&edge->to, (uintptr_t)to, memory_order_relaxed);
	to->expected++;
	if (push(from, edge)) {
		target->edges_used++;
		return;
	}
	to->expected--;
	if (ivl_is_watching())
		ivl_watch_edge(from, to);
	fault = atomic_load_explicit(&from->fault, memory_order_relaxed);
	if (fault)
		ivl_deliver(fault, from, to);
}

/* Ordered as in adopt() of interval.c. Stored once: all that add edges read it. */
static void enter(struct ivl_interval *interval)
{
	if (!atomic_load_explicit(&interval->entered, memory_order_acquire))
		atomic_store_explicit(&interval->entered, true, memory_order_seq_cst);
}

/* The edge is listed. Returns EDEADLK if it closes a cycle, or ENOMEM; then the edge is dead. */
static int dies(struct ivl_edge *edge, struct ivl_point *from, struct ivl_point *to)
{
	struct ivl_model *model = ivl_interval_of(to)->model;
	int error;

	enter(ivl_interval_of(to));
	if (!ivl_may_reach(to, from) || ivl_is_new(from, to) || !ivl_search(to, from))
		return 0;
	/* Of edges that close a cycle together, one dies and the others find it dead. */
	pthread_mutex_lock(&model->lock);
	error = ivl_search(to, from);
	if (error) {
		/* `from` cannot occur before the path is gone, so ivl_occur() sees the mark. */
		atomic_store_explicit(&edge->to, (uintptr_t)to | IVL_EDGE_DEAD,
				      memory_order_relaxed);
		ivl_retain(ivl_interval_of(to));
	}
	pthread_mutex_unlock(&model->lock);
	return error;
}

static int no_edge(int error, struct ivl_point *from, struct ivl_point *to, const char *why)
{
	return ivl_error(error, "edge " IVL_POINT_FORMAT " -> " IVL_POINT_FORMAT ": %s",
			 IVL_POINT_WORDS(from), IVL_POINT_WORDS(to), why);
}

/* The caller keeps `to` from occurring. */
static int add_edge(struct ivl_point *from, struct ivl_point *to, bool own)
{
	struct ivl_interval *target = ivl_interval_of(to);
	struct ivl_edge *edge = get_edge(target, own);
	ivl_fault fault;
	int error;

	if (!edge)
		return no_edge(ENOMEM, from, to, "out of memory");
	expect(to, own);
	atomic_store_explicit(&edge->to, (uintptr_t)to, memory_order_relaxed);
	if (!push(from, edge)) {
		unget_edge(target, edge);
		if (ivl_is_watching())
			ivl_watch_edge(from, to);
		fault = atomic_load_explicit(&from->fault, memory_order_relaxed);
		if (fault)
			ivl_deliver(fault, from, to);
		expect_no_more(to, own);
		return 0;
	}
	/* From here on the edge may be followed at any time, and be gone. */
	error = dies(edge, from, to);
	if (error) {
		expect_no_more(to, own);
		return no_edge(error, from, to, error == ENOMEM ? "out of memory" :
								  "would close a cycle");
	}
	return 0;
}

int ivl_add_edge(ivl_point *from, ivl_point *to)
{
	struct ivl_interval *target = ivl_interval_of(to);
	const bool own = owns(target);
	int error;

	if (ivl_interval_of(from)->model != target->model)
		return no_edge(EINVAL, from, to, "they belong to different runtimes");
	if (from == to || ivl_tree_before(to, from))
		return no_edge(EDEADLK, from, to, "would close a cycle");
	if (ivl_tree_before(from, to))
		return 0;
	if (!ivl_may_be_ahead(to))
		return no_edge(EALREADY, from, to, "its target may have occurred");
	if (!expect(to, own))
		return no_edge(EALREADY, from, to, "its target has occurred");
	error = add_edge(from, to, own);
	expect_no_more(to, own);
	return error;
}

struct joiner {
	struct ivl_edge edge;
	IVL_SHARED(struct ivl_waiter *) waiter;
	struct ivl_point *point;
};

static void bury(struct ivl_edge *edge, struct ivl_interval *target)
{
	if (!is_inside(edge, target))
		ivl_edge_put(target->model, edge);
	ivl_release(target);
}

static void follow(struct ivl_edge *edge, struct ivl_point *from, struct ivl_point *to,
		   ivl_fault fault, struct ivl_batch *batch)
{
	struct ivl_interval *target = ivl_interval_of(to);

	if (!is_inside(edge, target))
		ivl_edge_put(target->model, edge);
	if (fault)
		ivl_deliver(fault, from, to);
	if (ivl_is_watching())
		ivl_watch_edge(from, to);
	ivl_arrive(to, 1, batch);
}

static void wake(struct ivl_waiter *waiter, const struct ivl_batch *batch)
{
	if (batch->leaves)
		ivl_wake_next(waiter);
	else
		ivl_wake(waiter);
}

void ivl_occur(struct ivl_point *point, struct ivl_batch *batch)
{
	const ivl_fault fault = atomic_load_explicit(&point->fault, memory_order_relaxed);
	/*
	 * Acquire: the edges' targets. Release, to readers of the closed list: what was written
	 * before the point, and its error.
	 */
	struct ivl_edge *edge = atomic_exchange_explicit(&point->out, IVL_CLOSED,
							 memory_order_acq_rel);

	while (edge) {
		struct ivl_edge *next = edge->next;
		uintptr_t to = atomic_load_explicit(&edge->to, memory_order_relaxed);

		if (to == IVL_EDGE_JOIN)
			wake(((struct joiner *)edge)->waiter, batch);
		else if (to & IVL_EDGE_DEAD)
			bury(edge, ivl_interval_of((struct ivl_point *)(to & ~IVL_EDGE_DEAD)));
		else
			follow(edge, point, (struct ivl_point *)to, fault, batch);
		edge = next;
	}
}

bool ivl_publish_join(void *arg, struct ivl_waiter *waiter)
{
	struct joiner *joiner = arg;

	joiner->waiter = waiter;
	return push(joiner->point, &joiner->edge);
}

/* What keeps it from occurring. */
static void describe_point(const struct ivl_point *point, struct ivl_inspection *inspection)
{
	const struct ivl_interval *interval = ivl_interval_of(point);
	const int32_t start = atomic_load_explicit(&interval->start.left, memory_order_relaxed);
	const int32_t end = atomic_load_explicit(&interval->end.left, memory_order_relaxed);

	ivl_inspection_say(inspection, " waits for the %s of interval %s, ",
			   point->is_end ? "end" : "start", ivl_interval_name(interval));
	if (interval->started && end >= IVL_OPEN / 2)
		ivl_inspection_say(inspection, "whose body has not returned");
	else if (interval->started)
		ivl_inspection_say(inspection, "with unfinished subintervals: %d", end);
	else if (start >= IVL_OPEN / 2)
		ivl_inspection_say(inspection, "which is not scheduled: the body that created it "
				   "must return or call ivl_schedule()");
	else if (start || !ivl_describe_guard(interval, inspection))
		ivl_inspection_say(inspection, "whose predecessors have not occurred: "
				   "%d", start);
}

bool ivl_describe_join(const void *arg, struct ivl_inspection *inspection)
{
	const struct ivl_point *point = ((const struct joiner *)arg)->point;

	/* A point of another runtime may occur at any time. */
	if (ivl_interval_of(point)->model->runtime != inspection->runtime)
		return false;
	describe_point(point, inspection);
	return true;
}

int ivl_wait_for(struct ivl_point *point)
{
	struct joiner joiner;

	joiner.point = point;
	atomic_store_explicit(&joiner.edge.to, IVL_EDGE_JOIN, memory_order_relaxed);
	if (!ivl_point_occurred(point))
		ivl_wait(ivl_publish_join, &joiner);
	if (ivl_is_watching())
		ivl_watch_joined(point);
	return ivl_fault_error(atomic_load_explicit(&point->fault, memory_order_relaxed));
}

/* Would code inside `current` wait for itself? EDEADLK, 0, or ENOMEM. */
static int comes_after(struct ivl_interval *current, struct ivl_point *point)
{
	if (!current || current->model != ivl_interval_of(point)->model)
		return 0;
	return point == &current->end ? EDEADLK : ivl_reaches_from_end(current, point);
}

int ivl_join(ivl_point *point)
{
	struct ivl_interval *interval = ivl_interval_of(point);
	const char *why = "is not scheduled";
	int error = 0;

	if (!ivl_point_occurred(point)) {
		if (owns(interval) && !interval->started) {
			error = EDEADLK;
		} else {
			error = comes_after(ivl_current(), point);
			why = error == ENOMEM ? "out of memory" : "comes after the caller's end";
		}
	}
	if (error)
		return ivl_error(error, "join " IVL_POINT_FORMAT ": %s", IVL_POINT_WORDS(point),
				 why);
	return ivl_wait_for(point);
}
