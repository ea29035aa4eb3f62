// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How intervals begin and end: from point to point. Nothing here recurses along an edge, since
 * chains of intervals are unbounded.
 */
#include <watch/watch.h>

#include "model.h"
#include "waking.h"

void ivl_begin(struct ivl_interval *interval, struct ivl_batch *batch)
{
	interval->started = true;
	ivl_occur(&interval->start, batch);
	/* From here on it may end at any time. */
	if (interval->high)
		ivl_make_ready_high(interval->model->runtime, &interval->work, interval->place);
	else if (batch->leaves)
		ivl_make_ready_next(interval->model->runtime, &interval->work, interval->place);
	else
		ivl_make_ready(interval->model->runtime, &interval->work, interval->place);
}

/* It never begins, nor do its subintervals, all of which come after its start. */
static void skip(struct ivl_interval *interval, ivl_fault fault, struct ivl_batch *batch)
{
	ivl_set_fault(&interval->start, fault);
	ivl_set_fault(&interval->end, fault);
	interval->started = true;
	ivl_occur(&interval->start, batch);
	ivl_arrive_open(&interval->end, batch);
}

static void start_ready(struct ivl_interval *interval, struct ivl_batch *batch)
{
	ivl_fault fault = atomic_load_explicit(&interval->start.fault, memory_order_relaxed);

	if (!fault)
		fault = ivl_find_cancel(interval);
	if (fault)
		skip(interval, fault, batch);
	else if (!interval->holds || ivl_take_guards(interval))
		ivl_begin(interval, batch);
}

/* Pass the interval's error to its parent, before a joiner of its end resumes. */
static void tell_parent(struct ivl_interval *interval)
{
	struct ivl_interval *parent = interval->parent;
	const ivl_fault cancel = atomic_load_explicit(&interval->cancel, memory_order_relaxed);
	/* ivl_cancel() keeps errors inside. */
	const bool cancelled = cancel && ivl_fault_beyond(cancel) == parent->depth;
	ivl_fault fault;

	if (cancel)
		ivl_set_fault(&interval->end, cancel);
	fault = atomic_load_explicit(&interval->end.fault, memory_order_relaxed);
	if (fault && !cancelled && parent->depth > ivl_fault_beyond(fault) &&
	    !atomic_load_explicit(&interval->contained, memory_order_relaxed))
		ivl_set_fault(&parent->end, fault);
}

/*
 * Children of one parent often end one after the other on one worker, which reports them together:
 * otherwise all workers would write to the parent for each child. The parent waits anyway while a
 * child runs.
 */
static void arrive_ended(struct ivl_worker *worker, struct ivl_batch *batch)
{
	struct ivl_ended *ended = &worker->ended;
	struct ivl_interval *parent = (struct ivl_interval *)ended->deferred.from;

	/*
	 * Not the last reference: the parent has not ended. Relaxed: the arrival comes later, and
	 * releases.
	 */
	if (ended->references)
		atomic_fetch_sub_explicit(&parent->refs, ended->references, memory_order_relaxed);
	ivl_arrive(&parent->end, ended->count, batch);
	ended->count = 0;
	ended->references = 0;
	ivl_deferred_remove(&worker->deferred, &ended->deferred);
}

void ivl_report_ended(struct ivl_worker *worker, bool leaves)
{
	struct ivl_batch batch = { .leaves = leaves };

	/* The parent, itself a child, may end by this. */
	while (worker->ended.deferred.from) {
		arrive_ended(worker, &batch);
		ivl_settle(&batch);
	}
}

/* The worker that defers the parent's counts; NULL: none. */
static struct ivl_worker *counter(struct ivl_interval *parent, struct ivl_batch *batch)
{
	struct ivl_worker *worker = batch->leaves ? ivl_self() : NULL;

	if (!worker || worker->runtime != parent->model->runtime)
		return NULL;
	if (worker->ended.deferred.from == parent)
		return worker;
	if (worker->ended.deferred.from)
		arrive_ended(worker, batch);
	ivl_defer(&worker->deferred, &worker->ended.deferred, parent, ivl_report_ended);
	return worker;
}

static void retain_parent(struct ivl_worker *worker, struct ivl_interval *parent)
{
	if (!worker) {
		ivl_retain(parent);
		return;
	}
	if (!worker->ended.references) {
		/* Relaxed: the parent lives until its child has reported. */
		atomic_fetch_add_explicit(&parent->refs, IVL_REFERENCES, memory_order_relaxed);
		worker->ended.references = IVL_REFERENCES;
	}
	worker->ended.references--;
}

static void end_ready(struct ivl_interval *interval, struct ivl_batch *batch)
{
	struct ivl_interval *parent = interval->parent;
	/* The root waits for nothing, and lives as long as the runtime. */
	const bool waited = !ivl_is_root(parent);
	struct ivl_worker *worker = waited ? counter(parent, batch) : NULL;
	/* Acquire, from ivl_release(): only our reference is left. */
	bool submitted;
	const bool last = atomic_load_explicit(&interval->refs, memory_order_acquire) == 1;

	if (ivl_is_watching()) {
		ivl_watch_edge(&interval->start, &interval->end);
		ivl_watch_edge(&interval->end, &parent->end);
	}
	tell_parent(interval);
	if (!last && waited) {
		retain_parent(worker, parent);
		interval->keeps_parent = true;
	}
	ivl_occur(&interval->end, batch);
	if (interval->holds)
		ivl_leave_guards(interval, batch);
	submitted = interval->submitted;
	if (last)
		ivl_interval_free(interval);
	else
		ivl_release(interval);
	if (submitted)
		ivl_submitted_remove(parent->model->runtime);
	if (worker)
		worker->ended.count++;
	else if (waited)
		ivl_arrive(&parent->end, 1, batch);
}

void ivl_settle(struct ivl_batch *batch)
{
	while (batch->first) {
		struct ivl_interval *interval = batch->first;

		batch->first = interval->next;
		if (interval->started)
			end_ready(interval, batch);
		else
			start_ready(interval, batch);
	}
}
