// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "config.h"
#include "external.h"
#include "watch/locks.h"
#include "watch/perfetto.h"
#include "watch/trace_file.h"
#include "watch/watching.h"

bool ivl_watching;

int ivl_watch_start(bool *wanted)
{
	bool viewed = false, probed = false;
	int error = ivl_trace_open(wanted);

	if (!error)
		error = ivl_view_open(&viewed);
	if (!error)
		error = ivl_config_switch("INTERVALS_PROBES", &probed);
	*wanted = ivl_locks_start() || *wanted || viewed || probed;
	if (!error && *wanted)
		__atomic_store_n(&ivl_watching, true, __ATOMIC_RELAXED);
	return error;
}

struct ivl_watch *ivl_watch_create(void)
{
	static _Atomic(uint64_t) last;
	struct ivl_watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return NULL;
	if (ivl_tracing()) {
		watch->lane = ivl_lane_create();
		if (!watch->lane) {
			free(watch);
			return NULL;
		}
	}
	ivl_view_add(&watch->counts);
	/* Relaxed: only uniqueness matters. */
	watch->number = (atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1) << 32;
	return watch;
}

void ivl_watch_destroy(struct ivl_watch *watch)
{
	if (!watch)
		return;
	ivl_view_remove(&watch->counts);
	ivl_lane_destroy(watch->lane);
	free(watch);
}

void ivl_watch_forget(void)
{
	__atomic_store_n(&ivl_watching, false, __ATOMIC_RELAXED);
	ivl_trace_forget();
	ivl_view_forget();
	ivl_tasks_forget();
	ivl_graph_forget();
	ivl_locks_forget();
}

static uint32_t track_of(struct ivl_worker *worker)
{
	return atomic_load_explicit(&worker->watch->track, memory_order_relaxed);
}

void ivl_slice_begin(struct ivl_worker *worker, const char *name, const char *fact,
		     uint64_t value)
{
	const struct ivl_event event = { .type = IVL_EVENT_BEGIN, .track = track_of(worker),
					 .name = name, .fact = fact, .value = value };

	if (!worker->watch->lane)
		return;
	ivl_perfetto_event(worker->watch->lane, &event);
	worker->watch->open++;
}

void ivl_slices_end(struct ivl_worker *worker, unsigned int count)
{
	const struct ivl_event event = { .type = IVL_EVENT_END, .track = track_of(worker) };

	/* None may be open: a task that waited has ended, and its spawner has not resumed. */
	for (; count && worker->watch->open; count--) {
		ivl_perfetto_event(worker->watch->lane, &event);
		worker->watch->open--;
	}
}

/* Outermost first. */
void ivl_slices_begin_again(struct ivl_worker *worker, const struct ivl_watched *task)
{
	if (!task || !worker->watch->lane)
		return;
	ivl_slices_begin_again(worker, task->outer);
	ivl_slice_begin(worker, task->name, "task", task->number);
}

void ivl_watch_enter(struct ivl_worker *worker)
{
	const uint32_t tid = (uint32_t)syscall(SYS_gettid);
	char name[64];

	/* Attached threads enter repeatedly. */
	if (track_of(worker) == tid)
		return;
	if (worker->external)
		snprintf(name, sizeof(name), "%s (%s)",
			 worker->runtime->threadless ? "attached" : "ivl_run_here()",
			 worker->place->name);
	else
		snprintf(name, sizeof(name), "worker %u (%s)", worker->number,
			 worker->place->name);
	atomic_store_explicit(&worker->watch->track, tid, memory_order_relaxed);
	if (worker->watch->lane)
		ivl_perfetto_thread(worker->watch->lane, tid, name);
}

void ivl_watch_switch(struct ivl_worker *worker, const struct ivl_fiber *left,
		      const struct ivl_fiber *next)
{
	struct ivl_watched *waits = left ? left->watched : NULL, *goes_on = next->watched;

	if (left && left->publish)
		ivl_locks_wait(left);
	ivl_locks_go_on(next);
	ivl_slices_end(worker, worker->watch->open);
	ivl_slices_begin_again(worker, goes_on);
	if (waits && waits->since) {
		ivl_view_stop(waits, &worker->watch->counts);
		waits->waits = true;
	}
	if (goes_on && goes_on->waits) {
		goes_on->waits = false;
		ivl_view_go(goes_on);
	}
}

void ivl_watch_steal(struct ivl_worker *worker, struct ivl_worker *victim)
{
	struct ivl_watch *watch = worker->watch;
	const uint64_t flow = watch->number + ++watch->steals;
	const uint64_t now = ivl_perfetto_now();
	const struct ivl_event from = { .type = IVL_EVENT_INSTANT, .track = track_of(victim),
					.ns = now, .name = "stolen", .flow_from = flow,
					.fact = "by thread", .value = track_of(worker) };
	const struct ivl_event to = { .type = IVL_EVENT_INSTANT, .track = track_of(worker),
				      .ns = now, .name = "steal", .flow_to = flow,
				      .fact = "from thread", .value = track_of(victim) };

	if (!watch->lane)
		return;
	ivl_perfetto_event(watch->lane, &from);
	ivl_perfetto_event(watch->lane, &to);
}

void ivl_watch_sleep(struct ivl_worker *worker)
{
	ivl_slice_begin(worker, "asleep", NULL, 0);
}

void ivl_watch_wake(struct ivl_worker *worker)
{
	ivl_slices_end(worker, 1);
}
