// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Intervals: creating, scheduling, running. model.h has the states, settle.c how they end, enter.c
 * the calls that create one and begin it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <watch/watch.h>

#include "exception.h"
#include "fence.h"
#include "model.h"

/* References: the creator's, and the runtime's until the end has occurred. */

void ivl_retain(ivl_interval *interval)
{
	/* Relaxed: the caller has or borrows one. */
	atomic_fetch_add_explicit(&interval->refs, 1, memory_order_relaxed);
}

static bool drop(struct ivl_interval *interval)
{
	/* No other owner is left to take one. Acquire, from their drops. */
	if (atomic_load_explicit(&interval->refs, memory_order_acquire) == 1)
		return true;
	/* Release: our use comes before the next owner's. Acquire: so does everyone else's. */
	return atomic_fetch_sub_explicit(&interval->refs, 1, memory_order_acq_rel) == 1;
}

void ivl_interval_free(struct ivl_interval *interval)
{
	for (;;) {
		struct ivl_interval *parent = interval->keeps_parent ? interval->parent : NULL;

		if (interval->holds)
			ivl_free_holds(interval);
		if (ivl_is_watching())
			ivl_watch_unmake(interval->reached);
		free(interval->name);
		ivl_interval_put(interval);
		if (!parent || !drop(parent))
			return;
		interval = parent;
	}
}

void ivl_release(ivl_interval *interval)
{
	if (drop(interval))
		ivl_interval_free(interval);
}

/* Schedule what the body has created; by the body. */
static void schedule_made(struct ivl_interval *interval, struct ivl_batch *batch)
{
	struct ivl_interval *made = interval->made;

	interval->made = NULL;
	while (made) {
		struct ivl_interval *next = made->next;

		if (ivl_is_watching())
			ivl_watch_scheduled(interval, made);
		atomic_store_explicit(&made->owner, NULL, memory_order_relaxed);
		ivl_arrive_open(&made->start, batch);
		made = next;
	}
}

/* Schedule what spawned parts of the body have created; by any of them. */
static void schedule_made_elsewhere(struct ivl_interval *interval, struct ivl_batch *batch)
{
	struct ivl_interval *made;

	if (!atomic_load_explicit(&interval->made_elsewhere, memory_order_relaxed))
		return;
	/* Acquire, from remember(): the intervals. */
	made = atomic_exchange_explicit(&interval->made_elsewhere, NULL, memory_order_acquire);
	while (made) {
		struct ivl_interval *next = made->next;

		if (ivl_is_watching())
			ivl_watch_scheduled(interval, made);
		atomic_store_explicit(&made->owner, NULL, memory_order_relaxed);
		/* Not ivl_arrive_open(): the creator may be adding an edge. */
		ivl_arrive(&made->start, IVL_OPEN - made->start.expected, batch);
		made = next;
	}
}

void ivl_outlast(ivl_interval *interval)
{
	/* Relaxed: called inside the body, or by an async that the body waits for. */
	atomic_store_explicit(&interval->outlasted, true, memory_order_relaxed);
}

void ivl_run_body(struct ivl_interval *interval, struct ivl_local *local)
{
	struct ivl_interval *const outer = local->interval;
	struct ivl_finish *const finish = local->finish;
	struct ivl_cell *const cells = local->cells;
	const uint64_t watched = local->task & IVL_TASK_WATCHED;
	const ivl_fault fault = ivl_find_cancel(interval);
	struct ivl_batch batch = { .leaves = true };
	int error;

	if (fault) {
		ivl_set_fault(&interval->end, fault);
	} else if (interval->body) {
		atomic_store_explicit(&interval->owner, local, memory_order_relaxed);
		local->interval = interval;
		local->finish = NULL;
		local->task |= ivl_task_begins();
		local->cells = NULL;
		error = ivl_is_watching() ?
			ivl_watch_body(interval) :
			ivl_call_body(interval, interval->arg, interval->body);
		ivl_task_ends(local);
		local->interval = outer;
		local->finish = finish;
		/* The number stays: the caller owns mutexes by it. */
		local->task = (local->task & ~IVL_TASK_WATCHED) | watched;
		local->cells = cells;
		if (error)
			ivl_fail_interval(interval, error);
		if (interval->made)
			schedule_made(interval, &batch);
		atomic_store_explicit(&interval->owner, NULL, memory_order_relaxed);
		/* Pairs with remember(): an interval that we miss is scheduled by its creator. */
		if (atomic_load_explicit(&interval->outlasted, memory_order_relaxed))
			ivl_fence(memory_order_seq_cst);
		schedule_made_elsewhere(interval, &batch);
	}
	ivl_arrive_open(&interval->end, &batch);
	ivl_settle(&batch);
}

static void run(struct ivl_work *work)
{
	ivl_run_body((struct ivl_interval *)work, ivl_local_here());
}

static void refuse(struct ivl_work *work)
{
	struct ivl_interval *interval = (struct ivl_interval *)work;
	struct ivl_batch batch = { 0 };

	ivl_fail_interval(interval, ENOMEM);
	ivl_arrive_open(&interval->end, &batch);
	ivl_settle(&batch);
}

static const struct ivl_work_kind kind = {
	.run = run,
	.refuse = refuse,
	.awaited_by = offsetof(struct ivl_interval, parent),
};

void ivl_schedule(void)
{
	struct ivl_local *local = ivl_local_here();
	struct ivl_batch batch = { 0 };

	if (!local->interval)
		return;
	if (atomic_load_explicit(&local->interval->owner, memory_order_relaxed) == local)
		schedule_made(local->interval, &batch);
	schedule_made_elsewhere(local->interval, &batch);
	ivl_settle(&batch);
}

/*
 * Jump twice as far as the parent if the next two jumps are equally long; then few jumps lead to
 * any level.
 */
static struct ivl_interval *jump_from(struct ivl_interval *parent)
{
	struct ivl_interval *const once = parent->jump, *const twice = once->jump;

	return parent->depth - once->depth == once->depth - twice->depth ? twice : parent;
}

struct ivl_interval *ivl_make(struct ivl_interval *parent, const char *name, ivl_body *body,
			      void *arg, const ivl_place *place)
{
	struct ivl_interval *interval = ivl_interval_get(parent->model);
	char *copy = NULL;

	if (!interval)
		return NULL;
	interval->model = parent->model;
	if (name) {
		copy = strdup(name);
		if (!copy) {
			ivl_interval_put(interval);
			return NULL;
		}
	}
	interval->work.kind = &kind;
	atomic_store_explicit(&interval->start.out, NULL, memory_order_relaxed);
	atomic_store_explicit(&interval->start.fault, 0, memory_order_relaxed);
	atomic_store_explicit(&interval->start.left, IVL_OPEN, memory_order_relaxed);
	interval->start.expected = 0;
	interval->start.is_end = false;
	atomic_store_explicit(&interval->end.out, NULL, memory_order_relaxed);
	atomic_store_explicit(&interval->end.fault, 0, memory_order_relaxed);
	atomic_store_explicit(&interval->end.left, IVL_OPEN, memory_order_relaxed);
	interval->end.expected = 0;
	interval->end.is_end = true;
	interval->parent = parent;
	interval->jump = jump_from(parent);
	interval->body = body;
	interval->arg = arg;
	interval->place = place;
	atomic_store_explicit(&interval->owner, NULL, memory_order_relaxed);
	atomic_store_explicit(&interval->cancel, 0, memory_order_relaxed);
	atomic_store_explicit(&interval->cancel_around, 0, memory_order_relaxed);
	atomic_store_explicit(&interval->clean_at,
			      atomic_load_explicit(&parent->clean_at, memory_order_relaxed),
			      memory_order_relaxed);
	atomic_store_explicit(&interval->entered, false, memory_order_relaxed);
	atomic_store_explicit(&interval->outlasted, false, memory_order_relaxed);
	interval->holds = NULL;
	interval->reached = ivl_is_watching() ? ivl_watch_make() : NULL;
	interval->name = copy;
	interval->made = NULL;
	atomic_store_explicit(&interval->made_elsewhere, NULL, memory_order_relaxed);
	atomic_store_explicit(&interval->refs, 2, memory_order_relaxed);
	interval->depth = parent->depth + 1;
	interval->started = false;
	interval->keeps_parent = false;
	interval->high = false;
	interval->submitted = false;
	atomic_store_explicit(&interval->contained, false, memory_order_relaxed);
	atomic_store_explicit(&interval->has_children, false, memory_order_relaxed);
	interval->edges_used = 0;
	return interval;
}

/* List the unscheduled interval in `current`. */
static void remember(struct ivl_interval *interval, struct ivl_interval *current,
		     struct ivl_local *local)
{
	struct ivl_interval *before;

	if (atomic_load_explicit(&current->owner, memory_order_relaxed) == local) {
		atomic_store_explicit(&interval->owner, local, memory_order_relaxed);
		interval->next = NULL;
		if (current->made)
			current->made_last->next = interval;
		else
			current->made = interval;
		current->made_last = interval;
		return;
	}
	/* The thread that schedules it may not have come this far. */
	if (ivl_is_watching())
		ivl_watch_arrive(&interval->start);
	atomic_store_explicit(&interval->owner, current, memory_order_relaxed);
	before = atomic_load_explicit(&current->made_elsewhere, memory_order_relaxed);
	do {
		interval->next = before;
		/* Release, to schedule_made_elsewhere(). */
	} while (!atomic_compare_exchange_weak_explicit(&current->made_elsewhere, &before,
							interval, memory_order_release,
							memory_order_relaxed));
	if (!atomic_load_explicit(&current->outlasted, memory_order_relaxed))
		return;
	/* If the body has returned, it has found the interval, or we must schedule it. */
	ivl_fence(memory_order_seq_cst);
	if (!atomic_load_explicit(&current->owner, memory_order_relaxed))
		ivl_schedule();
}

int ivl_adopt(struct ivl_interval *interval, const char *what)
{
	struct ivl_interval *parent = interval->parent;

	/* The root never ends. */
	if (ivl_is_root(parent))
		return 0;
	if (!ivl_expect(&parent->end)) {
		ivl_error(EINVAL, "%s %s: its parent has ended", what, ivl_title(interval));
		ivl_interval_free(interval);
		return EINVAL;
	}
	/*
	 * No guard can be added to it any more (guard.c). Seq_cst, or acquire from such a store:
	 * see ivl_is_new() in order.c.
	 */
	if (!atomic_load_explicit(&parent->has_children, memory_order_acquire))
		atomic_store_explicit(&parent->has_children, true, memory_order_seq_cst);
	return 0;
}

ivl_interval *ivl_create(ivl_interval *parent, const char *name, ivl_body *body, void *arg,
			 const ivl_place *place)
{
	struct ivl_local *local = ivl_local_here();
	struct ivl_interval *current = local->interval;
	struct ivl_interval *interval;

	if (!parent || (parent != current && !ivl_may_be_ahead(&parent->end))) {
		ivl_error(EINVAL, "create %s: its parent %s may have ended", name ? name : "",
			  parent ? ivl_title(parent) : "is none, or");
		return NULL;
	}
	interval = ivl_make(parent, name, body, arg, place);
	if (!interval) {
		ivl_error(ENOMEM, "create %s: out of memory", name ? name : "");
		return NULL;
	}
	if (ivl_adopt(interval, "create"))
		return NULL;
	if (parent != current)
		ivl_connect_new(&parent->start, &interval->start);
	remember(interval, current, local);
	return interval;
}

int ivl_set_priority(ivl_interval *interval, enum ivl_priority priority)
{
	if (priority >= IVL_PRIORITIES)
		return ivl_error(EINVAL, "set_priority %s: no such priority: %d",
				 ivl_title(interval), (int)priority);
	if (!ivl_expect_unscheduled(interval))
		return ivl_error(EALREADY, "set_priority %s: it may have started",
				 ivl_title(interval));
	interval->high = priority == IVL_PRIORITY_HIGH;
	ivl_expect_no_more(&interval->start);
	return 0;
}

ivl_interval *ivl_current(void)
{
	return ivl_local_here()->interval;
}

ivl_interval *ivl_parent(ivl_interval *interval)
{
	return interval->depth > 1 ? interval->parent : NULL;
}

const char *ivl_name(const ivl_interval *interval)
{
	return interval->name;
}

ivl_point *ivl_start_point(ivl_interval *interval)
{
	return &interval->start;
}

ivl_point *ivl_end_point(ivl_interval *interval)
{
	return &interval->end;
}
