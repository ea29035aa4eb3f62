// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Guards: locks that intervals hold. An interval queues for its guards one after the other, in the
 * order of their creation; no worker waits.
 *
 * If an enclosing interval holds the same guard, an interval takes it from that one: each hold has
 * a queue for the intervals inside, and excludes them from each other as the guard excludes all
 * others.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <watch/names.h>
#include <watch/probes.h>
#include <watch/watch.h>

#include "deadlock.h"
#include "model.h"

struct ivl_guard {
	struct ivl_guard_queue queue;
	struct ivl_model *model;
	uint64_t number;
	char *name;
	uint64_t track;			/* its trace track (watch/watch.h); 0: none */
	uint64_t held;			/* total time held; written by the holder */
	_Atomic unsigned int refs;	/* the creator's, and one per hold */
};

struct ivl_hold {
	struct ivl_guard_node node;
	struct ivl_guard_queue inner;
	struct ivl_guard_queue *queue;	/* entered queue; NULL: none */
	struct ivl_guard *guard;
	struct ivl_interval *interval;
	struct ivl_hold *next;		/* of the same interval, with a higher number */
	uint64_t asked;			/* begin of the wait, if the guard is traced */
};

ivl_guard *ivl_guard_create(ivl_runtime *runtime, const char *name)
{
	struct ivl_guard *guard = calloc(1, sizeof(*guard));

	if (!guard)
		return NULL;
	if (name) {
		guard->name = strdup(name);
		if (!guard->name) {
			free(guard);
			return NULL;
		}
	}
	ivl_guard_queue_init(&guard->queue);
	guard->model = *ivl_runtime_model(runtime);
	/* Relaxed: only uniqueness matters. */
	guard->number = atomic_fetch_add_explicit(&guard->model->guards, 1, memory_order_relaxed);
	atomic_store_explicit(&guard->refs, 1, memory_order_relaxed);
	guard->track = ivl_is_watching() ? ivl_watch_guard(runtime, name) : 0;
	return guard;
}

void ivl_guard_release(ivl_guard *guard)
{
	/* Acquire and release: all uses come before free(). Pairs with itself. */
	if (atomic_fetch_sub_explicit(&guard->refs, 1, memory_order_acq_rel) != 1)
		return;
	free(guard->name);
	free(guard);
}

static struct ivl_hold *find_hold(const struct ivl_interval *interval, const ivl_guard *guard)
{
	struct ivl_hold *hold = interval->holds;

	while (hold && hold->guard != guard)
		hold = hold->next;
	return hold;
}

static int no_guard(int error, struct ivl_interval *interval, struct ivl_guard *guard,
		    const char *why)
{
	return ivl_error(error, "guard %s of %s: %s", guard->name ? guard->name : "(unnamed)",
			 ivl_title(interval), why);
}

/*
 * Does an enclosing interval hold a later guard? Looks up to the holder of this guard: all
 * competitors are inside that.
 */
static bool out_of_order(const struct ivl_interval *interval, const struct ivl_guard *guard)
{
	for (interval = interval->parent; interval; interval = interval->parent) {
		if (find_hold(interval, guard))
			return false;
		for (const struct ivl_hold *hold = interval->holds; hold; hold = hold->next)
			if (hold->guard->number > guard->number)
				return true;
	}
	return false;
}

int ivl_add_hold(struct ivl_interval *interval, struct ivl_guard *guard)
{
	struct ivl_hold **place = &interval->holds;
	struct ivl_hold *hold;

	if (interval->model != guard->model)
		return no_guard(EINVAL, interval, guard, "they belong to different runtimes");
	if (find_hold(interval, guard))
		return 0;
	if (atomic_load_explicit(&interval->has_children, memory_order_relaxed))
		return no_guard(EBUSY, interval, guard, "it has subintervals");
	if (out_of_order(interval, guard))
		return no_guard(EDEADLK, interval, guard,
				"an enclosing interval holds a guard that was created later");
	hold = calloc(1, sizeof(*hold));
	if (!hold)
		return no_guard(ENOMEM, interval, guard, "out of memory");
	ivl_guard_queue_init(&hold->inner);
	hold->guard = guard;
	hold->interval = interval;
	/* Relaxed: the caller has a reference. */
	atomic_fetch_add_explicit(&guard->refs, 1, memory_order_relaxed);
	while (*place && (*place)->guard->number < guard->number)
		place = &(*place)->next;
	hold->next = *place;
	*place = hold;
	return 0;
}

int ivl_add_guard(ivl_interval *interval, ivl_guard *guard)
{
	int error;

	if (!ivl_expect_unscheduled(interval))
		return no_guard(EALREADY, interval, guard, "it may have started");
	error = ivl_add_hold(interval, guard);
	ivl_expect_no_more(&interval->start);
	return error;
}

/*
 * Take the guards from this hold on. False: one must be waited for; then the interval may be gone.
 */
static bool take(struct ivl_hold *hold)
{
	for (; hold; hold = hold->next) {
		struct ivl_hold *outer = NULL;

		for (struct ivl_interval *i = hold->interval->parent; i && !outer; i = i->parent)
			outer = find_hold(i, hold->guard);
		hold->queue = outer ? &outer->inner : &hold->guard->queue;
		if (hold->guard->track)
			hold->asked = ivl_watch_now();
		/* Before entering: after that the interval may run, and be gone. */
		IVL_PROBE2(guard_wait, hold->guard, hold->interval);
		if (!ivl_guard_queue_enter(hold->queue, &hold->node))
			return false;
		IVL_PROBE2(guard_acquire, hold->guard, hold->interval);
		if (hold->guard->track)
			ivl_watch_held(hold->guard->track, hold->interval, 0);
	}
	return true;
}

bool ivl_take_guards(struct ivl_interval *interval)
{
	return take(interval->holds);
}

void ivl_leave_guards(struct ivl_interval *interval, struct ivl_batch *batch)
{
	for (struct ivl_hold *hold = interval->holds; hold; hold = hold->next) {
		struct ivl_guard_node *node;
		struct ivl_hold *heir;

		if (!hold->queue)
			continue;
		if (hold->guard->track)
			ivl_watch_left(hold->guard->track);
		/* A hold inside another holder does not count twice. */
		if (ivl_is_watching() && hold->queue == &hold->guard->queue)
			hold->guard->held = ivl_watch_hold(interval, hold->guard->name,
							   hold->guard->held);
		node = ivl_guard_queue_leave(hold->queue);
		if (!node)
			continue;
		heir = (struct ivl_hold *)((char *)node - offsetof(struct ivl_hold, node));
		IVL_PROBE2(guard_acquire, heir->guard, heir->interval);
		if (heir->guard->track)
			ivl_watch_held(heir->guard->track, heir->interval, heir->asked);
		if (take(heir->next))
			ivl_begin(heir->interval, batch);
	}
}

/* The interval that holds the awaited guard, among those that waiting tasks are inside of. */
static const struct ivl_interval *find_holder(const struct ivl_hold *awaited,
					      const struct ivl_inspection *inspection)
{
	for (const struct ivl_fiber *fiber = inspection->last; fiber; fiber = fiber->made) {
		const struct ivl_interval *i = fiber->publish ? fiber->local.interval : NULL;

		for (; i; i = i->parent)
			for (const struct ivl_hold *hold = i->holds; hold; hold = hold->next)
				if (hold->queue == awaited->queue)
					return i;
	}
	return NULL;
}

bool ivl_describe_guard(const struct ivl_interval *interval, struct ivl_inspection *inspection)
{
	const struct ivl_hold *awaited = NULL;
	const struct ivl_interval *holder;

	for (const struct ivl_hold *hold = interval->holds; hold && hold->queue; hold = hold->next)
		awaited = hold;
	if (!awaited)
		return false;
	holder = find_holder(awaited, inspection);
	ivl_inspection_say(inspection, "which waits for guard %s, which interval %s holds",
			   awaited->guard->name ? awaited->guard->name : "(unnamed)",
			   holder ? ivl_interval_name(holder) : "(unknown)");
	return true;
}

void ivl_free_holds(struct ivl_interval *interval)
{
	while (interval->holds) {
		struct ivl_hold *hold = interval->holds;

		interval->holds = hold->next;
		ivl_guard_release(hold->guard);
		free(hold);
	}
}

bool ivl_holds(const ivl_guard *guard)
{
	for (struct ivl_interval *i = ivl_local_here()->interval; i; i = i->parent)
		if (find_hold(i, guard))
			return true;
	return false;
}
