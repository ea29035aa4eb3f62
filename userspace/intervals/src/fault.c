// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Errors and cancellation.
 *
 * An interval's own error goes up, to the ends of all intervals around it. Along an edge an error
 * goes to the target and the intervals around that, but not to the common bound, the innermost
 * interval that contains both ends: the error reaches the bound from below, if at all. Hence each
 * ivl_fault carries the depth beyond which it belongs.
 */
#include <errno.h>

#include "model.h"

static void add_fault(struct ivl_point *point, ivl_fault fault)
{
	/* Relaxed throughout: readers come later by the point's `left` or `out`. */
	ivl_fault old = atomic_load_explicit(&point->fault, memory_order_relaxed);
	ivl_fault new;

	do {
		/* The first error stays, and reaches as far as the farthest. */
		if (!old)
			new = fault;
		else if (ivl_fault_beyond(fault) < ivl_fault_beyond(old))
			new = ivl_fault_of(ivl_fault_error(old), ivl_fault_beyond(fault));
		else
			return;
	} while (!atomic_compare_exchange_weak_explicit(&point->fault, &old, new,
							memory_order_relaxed,
							memory_order_relaxed));
}

void ivl_set_fault(struct ivl_point *point, ivl_fault fault)
{
	struct ivl_interval *interval = ivl_interval_of(point);
	/* Relaxed: of unordered errors either may be the first. */
	const ivl_fault before = atomic_load_explicit(&interval->cancel, memory_order_relaxed);

	/* ivl_cancel() does not write to the end of an interval, which may be over. */
	if (before && point->is_end)
		add_fault(point, before);
	add_fault(point, fault);
}

void ivl_deliver(ivl_fault fault, struct ivl_point *from, struct ivl_point *to)
{
	struct ivl_interval *bound = ivl_common(ivl_interval_of(from), ivl_interval_of(to));

	ivl_set_fault(to, ivl_fault_of(ivl_fault_error(fault), bound->depth));
}

void ivl_set_cancel(struct ivl_interval *interval, ivl_fault fault)
{
	struct ivl_model *model = interval->model;
	ivl_fault none = 0;
	uint64_t number;

	/* Relaxed: a reader that must see it comes later by an edge. */
	if (!atomic_compare_exchange_strong_explicit(&interval->cancel, &none, fault,
						     memory_order_relaxed, memory_order_relaxed))
		return;
	/* Release, to ivl_find_cancel(), which then sees `cancel`. */
	number = atomic_fetch_add_explicit(&model->cancels, 1, memory_order_release) + 1;
	/* Relaxed: a reader that misses it looks everywhere. */
	atomic_store_explicit(&model->cancelled[number % IVL_CANCELS_KEPT],
			      number << 32 | interval->depth, memory_order_relaxed);
}

static ivl_fault known_cancel(struct ivl_interval *interval)
{
	/* Relaxed: as in ivl_set_cancel(). */
	const ivl_fault fault = atomic_load_explicit(&interval->cancel, memory_order_relaxed);

	return fault ? fault : atomic_load_explicit(&interval->cancel_around, memory_order_relaxed);
}

/*
 * Is the interval inside one that was cancelled since `before`? Returns false if that is no longer
 * recorded, or looking at all enclosing intervals is cheaper.
 */
static bool look_at_new(struct ivl_interval *interval, uint64_t before, uint64_t now,
			ivl_fault *fault)
{
	if (now - before > IVL_CANCELS_KEPT || now - before > interval->depth)
		return false;
	*fault = 0;
	for (uint64_t number = before + 1; number <= now && !*fault; number++) {
		const uint64_t kept = atomic_load_explicit(
			&interval->model->cancelled[number % IVL_CANCELS_KEPT], memory_order_relaxed);
		const unsigned int depth = (uint32_t)kept;

		if (kept >> 32 != (uint32_t)number)
			return false;
		if (depth <= interval->depth)
			*fault = atomic_load_explicit(&ivl_around_at(interval, depth)->cancel,
						      memory_order_relaxed);
	}
	return true;
}

static bool is_clean(struct ivl_interval *interval, uint64_t now)
{
	/* Relaxed: another thread may have looked already, and seen more. */
	return atomic_load_explicit(&interval->clean_at, memory_order_relaxed) >= now;
}

static void remember(struct ivl_interval *interval, ivl_fault fault, uint64_t now)
{
	if (fault)
		atomic_store_explicit(&interval->cancel_around, fault, memory_order_relaxed);
	else
		atomic_store_explicit(&interval->clean_at, now, memory_order_relaxed);
}

/* Look at all enclosing intervals up to one that is known to be clean. */
static ivl_fault look_at_all(struct ivl_interval *interval, uint64_t now)
{
	struct ivl_interval *end = interval;
	ivl_fault fault = 0;

	while (end && !is_clean(end, now)) {
		fault = known_cancel(end);
		if (fault)
			break;
		end = end->parent;
	}
	for (struct ivl_interval *i = interval; i != end; i = i->parent)
		remember(i, fault, now);
	return fault;
}

/* For an interval in which something begins, so that later ones find the answer. */
static ivl_fault look_around(struct ivl_interval *interval, uint64_t now)
{
	const uint64_t before = atomic_load_explicit(&interval->clean_at, memory_order_relaxed);
	ivl_fault fault = known_cancel(interval);

	if (fault || before >= now)
		return fault;
	if (!look_at_new(interval, before, now, &fault))
		return look_at_all(interval, now);
	remember(interval, fault, now);
	return fault;
}

/*
 * Mostly an enclosing interval was looked at a few cancellations ago. The depth of each later one
 * suffices to tell whether it encloses this interval.
 */
ivl_fault ivl_look_for_cancel(struct ivl_interval *interval, uint64_t now)
{
	ivl_fault fault = known_cancel(interval);

	if (fault || !interval->parent)
		return fault;
	fault = look_around(interval->parent, now);
	remember(interval, fault, now);
	return fault;
}

void ivl_fail_interval(struct ivl_interval *interval, int error)
{
	const ivl_fault fault = ivl_fault_of(error, 0);

	ivl_set_fault(&interval->end, fault);
	ivl_set_cancel(interval, fault);
}

void ivl_fail(int error)
{
	struct ivl_interval *current = ivl_local_here()->interval;

	if (current && error)
		ivl_fail_interval(current, error);
}

void ivl_cancel(ivl_interval *interval)
{
	/* Not beyond itself: cancelling a part does not fail the whole. */
	ivl_set_cancel(interval, ivl_fault_of(ECANCELED, interval->depth - 1));
}

bool ivl_cancelled(void)
{
	struct ivl_interval *current = ivl_local_here()->interval;

	return current && ivl_find_cancel(current);
}
