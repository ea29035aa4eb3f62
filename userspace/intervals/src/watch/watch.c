// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "exception.h"
#include "model.h"
#include "seat.h"
#include "watch/names.h"
#include "watch/perfetto.h"
#include "watch/trace_file.h"

/* Of a worker; its thread's alone, where nothing else is said. */
struct ivl_watch {
	struct ivl_lane *lane;
	_Atomic(uint32_t) track;	/* its thread's; thieves read it */
	unsigned int open;		/* slices that have begun and not ended there */
	uint64_t number;		/* its own, in the upper half */
	uint64_t tasks, steals;
};

bool ivl_watching;

int ivl_watch_start(bool *wanted)
{
	int error = ivl_trace_open(wanted);

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
	watch->lane = ivl_lane_create();
	if (!watch->lane) {
		free(watch);
		return NULL;
	}
	/* Relaxed: only that they differ. */
	watch->number = (atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1) << 32;
	return watch;
}

void ivl_watch_destroy(struct ivl_watch *watch)
{
	if (!watch)
		return;
	ivl_lane_destroy(watch->lane);
	free(watch);
}

void ivl_watch_forget(void)
{
	__atomic_store_n(&ivl_watching, false, __ATOMIC_RELAXED);
	ivl_trace_forget();
}

/*
 * Lanes.
 */

static uint32_t track_of(struct ivl_worker *worker)
{
	return atomic_load_explicit(&worker->watch->track, memory_order_relaxed);
}

static void begin_slice(struct ivl_worker *worker, const char *name, const char *fact,
			uint64_t value)
{
	const struct ivl_event event = { .type = IVL_EVENT_BEGIN, .track = track_of(worker),
					 .name = name, .fact = fact, .value = value };

	ivl_perfetto_event(worker->watch->lane, &event);
	worker->watch->open++;
}

static void end_slices(struct ivl_worker *worker, unsigned int count)
{
	const struct ivl_event event = { .type = IVL_EVENT_END, .track = track_of(worker) };

	/* Of who has ended none may be there: it waited, and its spawner has not gone on. */
	for (; count && worker->watch->open; count--) {
		ivl_perfetto_event(worker->watch->lane, &event);
		worker->watch->open--;
	}
}

/* The outermost first. */
static void begin_again(struct ivl_worker *worker, const struct ivl_watched *task)
{
	if (!task)
		return;
	begin_again(worker, task->outer);
	begin_slice(worker, task->name, "task", task->number);
}

void ivl_watch_enter(struct ivl_worker *worker)
{
	const uint32_t tid = (uint32_t)syscall(SYS_gettid);
	char name[64];

	if (worker->seat)
		snprintf(name, sizeof(name), "ivl_run_here() (%s)", worker->place->name);
	else
		snprintf(name, sizeof(name), "worker %u (%s)", worker->number,
			 worker->place->name);
	atomic_store_explicit(&worker->watch->track, tid, memory_order_relaxed);
	ivl_perfetto_thread(worker->watch->lane, tid, name);
}

void ivl_watch_switch(struct ivl_worker *worker, const struct ivl_fiber *next)
{
	end_slices(worker, worker->watch->open);
	begin_again(worker, next->watched);
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

	ivl_perfetto_event(watch->lane, &from);
	ivl_perfetto_event(watch->lane, &to);
}

void ivl_watch_sleep(struct ivl_worker *worker)
{
	begin_slice(worker, "asleep", NULL, 0);
}

void ivl_watch_wake(struct ivl_worker *worker)
{
	end_slices(worker, 1);
}

/*
 * Tasks.
 */

static void begin_task(struct ivl_watched *task, const char *name)
{
	struct ivl_worker *worker = ivl_self();
	struct ivl_fiber *fiber = worker->fiber;
	struct ivl_watch *watch = worker->watch;

	/* The caller came back from a child that had waited, and not by a switch. */
	if (!watch->open)
		begin_again(worker, fiber->watched);
	*task = (struct ivl_watched){ fiber->watched, name, watch->number + ++watch->tasks };
	fiber->watched = task;
	begin_slice(worker, name, "task", task->number);
}

static void end_task(struct ivl_watched *task)
{
	struct ivl_worker *worker = ivl_self();

	worker->fiber->watched = task->outer;
	end_slices(worker, 1);
}

static void call(ivl_function *function, void *arg)
{
	struct ivl_watched task;

	begin_task(&task, ivl_function_name((const void *)function));
	function(arg);
	end_task(&task);
}

struct child {
	ivl_function *function;
	void *arg;
};

static void run_child(void *arg)
{
	const struct child child = *(struct child *)arg;

	free(arg);
	call(child.function, child.arg);
}

void ivl_watch_spawn(struct ivl_task *task)
{
	struct child *child = malloc(sizeof(*child));

	/* Without memory it is not seen. */
	if (!child)
		return;
	*child = (struct child){ task->function, task->arg };
	task->function = run_child;
	task->arg = child;
}

void ivl_watch_unspawn(struct ivl_task *task)
{
	if (task->function == run_child)
		free(task->arg);
}

struct async {
	_Alignas(max_align_t) ivl_function *function;
};

static void run_async(void *arg)
{
	struct async *async = arg;

	call(async->function, async + 1);
}

int ivl_watch_async(ivl_start_async *start, struct ivl_worker *worker, struct ivl_finish *finish,
		    ivl_function *function, const void *arg, size_t bytes, const ivl_place *place)
{
	_Alignas(max_align_t) char copy[sizeof(struct async) + bytes];

	((struct async *)copy)->function = function;
	if (bytes)
		memcpy(copy + sizeof(struct async), arg, bytes);
	return start(worker, finish, run_async, copy, sizeof(copy), place);
}

static const char *title(const ivl_interval *interval)
{
	if (interval->name)
		return interval->name;
	return interval->body ? ivl_function_name((const void *)interval->body) : "(interval)";
}

int ivl_watch_body(ivl_interval *interval)
{
	struct ivl_worker *worker = ivl_self();
	struct ivl_watched task;
	int error;

	if (!worker || !ivl_is_watched(worker))
		return ivl_call_body(interval, interval->arg, interval->body);
	begin_task(&task, title(interval));
	error = ivl_call_body(interval, interval->arg, interval->body);
	end_task(&task);
	return error;
}

/*
 * Guards, which have tracks of their own: who waits for one is on no worker.
 */

static struct ivl_lane *callers_lane(void)
{
	struct ivl_worker *worker = ivl_self();

	return worker && ivl_is_watched(worker) ? worker->watch->lane : NULL;
}

uint64_t ivl_watch_guard(const ivl_runtime *runtime, const char *name)
{
	char words[160];

	if (!runtime->watched)
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
	struct ivl_event event = { .name = title(interval) };

	if (asked) {
		/* Several wait at a time: each on its own, which Perfetto shows together. */
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
