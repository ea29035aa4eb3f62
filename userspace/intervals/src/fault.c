// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Errors and cancellation.
 *
 * An interval's own error goes up: to the ends of all that it is inside of. Along an
 * edge it goes to the target and what that is inside of, but not to the common bound,
 * the innermost interval that contains both: the bound has it from below, if it
 * should. Hence ivl_fault: each error knows the depth beyond which it belongs.
 */
#include <errno.h>

#include "model.h"

static void add_fault(struct ivl_point *point, ivl_fault fault)
{
	/* Relaxed, all: who reads it comes after us by the point's `left` or `out`. */
	ivl_fault old = atomic_load_explicit(&point->fault, memory_order_relaxed);
	ivl_fault new;

	do {
		/* The first error stays, and goes as far as the farthest. */
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
	/* Relaxed: of those that nothing orders either may be the first. */
	const ivl_fault before = atomic_load_explicit(&interval->cancel, memory_order_relaxed);

	/* Who cancels an interval, which may have ended, does not write to its end. */
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

	/* Relaxed: who must see it comes after us by an edge; for others it is a race. */
	if (!atomic_compare_exchange_strong_explicit(&interval->cancel, &none, fault,
						     memory_order_relaxed, memory_order_relaxed))
		return;
	/* Release, to ivl_find_cancel(): who sees this one sees the `cancel`. */
	number = atomic_fetch_add_explicit(&model->cancels, 1, memory_order_release) + 1;
	/* Relaxed: who does not see it looks everywhere. */
	atomic_store_explicit(&model->cancelled[number % IVL_CANCELS_KEPT],
			      number << 32 | interval->depth, memory_order_relaxed);
}

static ivl_fault known_cancel(struct ivl_interval *interval)
{
	/* Relaxed: as in ivl_set_cancel(); and what is around does not change. */
	const ivl_fault fault = atomic_load_explicit(&interval->cancel, memory_order_relaxed);

	return fault ? fault : atomic_load_explicit(&interval->cancel_around, memory_order_relaxed);
}

/*
 * What was cancelled since `before`: is any of it the interval, or around it? False: that is not
 * known any more, or there are more of them than around the interval.
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
	/* Relaxed: somebody has looked for us, and may have seen more than we. */
	return atomic_load_explicit(&interval->clean_at, memory_order_relaxed) >= now;
}

/* Leave word for others. */
static void remember(struct ivl_interval *interval, ivl_fault fault, uint64_t now)
{
	if (fault)
		atomic_store_explicit(&interval->cancel_around, fault, memory_order_relaxed);
	else
		atomic_store_explicit(&interval->clean_at, now, memory_order_relaxed);
}

/* All that is around it, as far as nobody has come since the last was cancelled. */
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

/* Of an interval in which something begins: what is inside of it will ask, too. */
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
 * Who asks has mostly been asked for before, some cancelled intervals ago: of each of these the
 * depth is enough to see whether it is around.
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
	/* Not beyond itself: who cancels a part does not want the whole to fail. */
	ivl_set_cancel(interval, ivl_fault_of(ECANCELED, interval->depth - 1));
}

bool ivl_cancelled(void)
{
	struct ivl_interval *current = ivl_local_here()->interval;

	return current && ivl_find_cancel(current);
}
