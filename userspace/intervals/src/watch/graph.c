// SPDX-License-Identifier: LGPL-2.1-or-later
/* Traced intervals and guards. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "exception.h"
#include "model.h"
#include "watch/names.h"
#include "watch/perfetto.h"
#include "watch/trace_file.h"
#include "watch/watching.h"

struct ivl_reached {
	struct ivl_span start, end;
	struct ivl_span body;		/* at its end; before that, no tasks */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void ivl_reach(struct ivl_span *at, const struct ivl_span *from)
{
	pthread_mutex_lock(&lock);
	ivl_span_reach(at, from);
	pthread_mutex_unlock(&lock);
}

void ivl_graph_forget(void)
{
	pthread_mutex_init(&lock, NULL);
}

struct ivl_reached *ivl_watch_make(void)
{
	return ivl_viewing() ? calloc(1, sizeof(struct ivl_reached)) : NULL;
}

void ivl_watch_unmake(struct ivl_reached *reached)
{
	free(reached);
}

static struct ivl_span *span_of(const struct ivl_point *point)
{
	struct ivl_reached *reached = ivl_interval_of(point)->reached;

	if (!reached)
		return NULL;
	return point->is_end ? &reached->end : &reached->start;
}

void ivl_watch_edge(const struct ivl_point *from, const struct ivl_point *to)
{
	struct ivl_span *source = span_of(from), *target = span_of(to);

	if (source && target)
		ivl_reach(target, source);
}

void ivl_watch_arrive(const struct ivl_point *point)
{
	struct ivl_span *target = span_of(point), here;

	if (!target)
		return;
	here = ivl_span_here();
	ivl_reach(target, &here);
}

void ivl_watch_scheduled(const ivl_interval *interval, const ivl_interval *made)
{
	struct ivl_span from;

	if (!interval->reached || !made->reached)
		return;
	pthread_mutex_lock(&lock);
	from = interval->reached->body;
	pthread_mutex_unlock(&lock);
	/* From the body, or a concurrent part of it. */
	if (!from.tasks)
		from = ivl_span_here();
	ivl_reach(&made->reached->start, &from);
}

void ivl_watch_joined(const struct ivl_point *point)
{
	struct ivl_span *source = span_of(point);

	if (source)
		ivl_span_joined(source);
}

int ivl_watch_body(ivl_interval *interval)
{
	struct ivl_worker *worker = ivl_self();
	struct ivl_span from = { 0, 0, 0 };
	struct ivl_watched task;
	int error;

	if (!worker || !ivl_is_watched(worker))
		return ivl_call_body(interval, interval->arg, interval->body);
	if (interval->reached)
		from = interval->reached->start;
	/* Unless a task here calls it. */
	if (!worker->fiber->watched)
		from.burdened_ns += IVL_BURDEN_NS;
	ivl_task_watched(&task, ivl_interval_name(interval), &from);
	error = ivl_call_body(interval, interval->arg, interval->body);
	ivl_task_over(&task);
	if (interval->reached) {
		ivl_reach(&interval->reached->body, &task.span);
		ivl_reach(&interval->reached->end, &task.span);
	}
	return error;
}

/* Guards have tracks of their own: an interval that waits for one is on no worker. */

static struct ivl_lane *callers_lane(void)
{
	struct ivl_worker *worker = ivl_self();

	return worker && ivl_is_watched(worker) ? worker->watch->lane : NULL;
}

uint64_t ivl_watch_guard(const ivl_runtime *runtime, const char *name)
{
	char words[160];

	if (!runtime->watched || !ivl_tracing())
		return 0;
	snprintf(words, sizeof(words), "guard %s", name ? name : "(unnamed)");
	return ivl_perfetto_track(callers_lane(), 0, words);
}

uint64_t ivl_watch_now(void)
{
	return ivl_perfetto_now();
}

void ivl_watch_held(uint64_t guard, const ivl_interval *interval, uint64_t asked)
{
	struct ivl_lane *lane = callers_lane();
	const uint64_t now = ivl_perfetto_now();
	struct ivl_event event = { .name = ivl_interval_name(interval) };

	if (asked) {
		/* Concurrent waits have a track each, which Perfetto shows together. */
		event.track = ivl_perfetto_track(lane, guard, "waiting");
		event.type = IVL_EVENT_BEGIN;
		event.ns = asked;
		ivl_perfetto_event(lane, &event);
		event.type = IVL_EVENT_END;
		event.ns = now;
		ivl_perfetto_event(lane, &event);
	}
	event.type = IVL_EVENT_BEGIN;
	event.track = guard;
	event.ns = now;
	ivl_perfetto_event(lane, &event);
}

void ivl_watch_left(uint64_t guard)
{
	const struct ivl_event event = { .type = IVL_EVENT_END, .track = guard };

	ivl_perfetto_event(callers_lane(), &event);
}

uint64_t ivl_watch_hold(const ivl_interval *interval, const char *name, uint64_t sum)
{
	const struct ivl_reached *reached = interval->reached;

	if (!reached)
		return sum;
	sum += reached->end.ns - reached->start.ns;
	ivl_view_held(name ? name : "(unnamed)", sum);
	return sum;
}
