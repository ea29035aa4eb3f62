/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tracing: tasks, workers and guards write events.
 *
 * Tracing costs a spawn and its sync nothing when off. Workers of a traced runtime have no `deque`,
 * so each spawn takes spawn_slowly() (forkjoin.c), which replaces the child's function by one that
 * records its begin and end. Asyncs are replaced when they are created. Rare events (steal, switch,
 * sleep) test one pointer.
 *
 * A lane (a thread's line in the picture) shows what runs there. When a task waits, its slices end;
 * they begin again where it resumes.
 */
#ifndef IVL_WATCH_H
#define IVL_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "watch/span.h"
#include "worker.h"

struct ivl_lane;

/* A running task, in the frame that calls its function. */
struct ivl_watched {
	struct ivl_watched *outer;	/* below it on the same fiber, or NULL */
	const char *name;
	uint64_t number;
	/* For spans (watch/view.h): the task's path so far, and the begin of the running strand. */
	struct ivl_span span;
	uint64_t since;			/* 0: not running */
	bool waits;			/* runs again when its fiber resumes */
	bool stops_outer;		/* `outer` runs again when this task ends */
};

/* Does the process trace? False before the first traced runtime starts. */
extern bool ivl_watching;

static inline bool ivl_is_watching(void)
{
	return __builtin_expect(__atomic_load_n(&ivl_watching, __ATOMIC_RELAXED), 0);
}

static inline bool ivl_is_watched(const struct ivl_worker *worker)
{
	return __builtin_expect(worker->watch != NULL, 0);
}

/* Returns 0, and whether the environment asks for tracing; or an errno value. */
int ivl_watch_start(bool *wanted);
/* For a worker of a traced runtime, before it runs. NULL: ENOMEM. */
struct ivl_watch *ivl_watch_create(void);
void ivl_watch_destroy(struct ivl_watch *watch);
/* In the child of a fork(). */
void ivl_watch_forget(void);

/* By a worker with ivl_is_watched(). */

/* The calling thread becomes the worker's. */
void ivl_watch_enter(struct ivl_worker *worker);
/* Switch to another fiber. NULL: the old one has left already. */
void ivl_watch_switch(struct ivl_worker *worker, const struct ivl_fiber *left,
		      const struct ivl_fiber *next);
void ivl_watch_steal(struct ivl_worker *worker, struct ivl_worker *victim);
void ivl_watch_sleep(struct ivl_worker *worker);
void ivl_watch_wake(struct ivl_worker *worker);

/* The task is about to be queued; was not queued after all; its spawner continues. */
void ivl_watch_spawn(struct ivl_task *task);
void ivl_watch_unspawn(struct ivl_task *task);
void ivl_watch_spawned(void);

/* In ivl_scope.elsewhere: ivl_watch_sync() must be called before the sync. */
#define IVL_SCOPE_WATCHED (INT64_C(1) << 62)
/* ivl_watch_synced() takes its result after the sync. */
void *ivl_watch_sync(struct ivl_scope *scope);
void ivl_watch_synced(void *children);
/* The scope is detached. */
void ivl_watch_leave(struct ivl_scope *scope);

/* Like start(worker, finish, function, arg, bytes, place). */
int ivl_watch_async(ivl_start_async *start, struct ivl_worker *worker, struct ivl_finish *finish,
		    ivl_function *function, const void *arg, size_t bytes, const ivl_place *place);

/* By any thread with ivl_is_watching(). */

/* All asyncs of the finish have ended, and the waiter continues. */
void ivl_watch_finished(const struct ivl_finish *finish);

/* Path lengths of an interval's points; NULL: not wanted. */
struct ivl_reached *ivl_watch_make(void);
void ivl_watch_unmake(struct ivl_reached *reached);
/* `from`, which has occurred, happens before `to`. */
void ivl_watch_edge(const struct ivl_point *from, const struct ivl_point *to);
/* The body of `interval` has ended, or the caller, a part of it, schedules `made`. */
void ivl_watch_scheduled(const ivl_interval *interval, const ivl_interval *made);
/* The caller's actions so far happen before the point. */
void ivl_watch_arrive(const struct ivl_point *point);
/* The caller has waited for the point. */
void ivl_watch_joined(const struct ivl_point *point);

/* Like ivl_call_body(). */
int ivl_watch_body(ivl_interval *interval);

/* A new guard's track; 0: not traced. */
uint64_t ivl_watch_guard(const ivl_runtime *runtime, const char *name);
/* Time for ivl_watch_held(). */
uint64_t ivl_watch_now(void);
/* The interval has got the guard. `asked`: when it began to wait; 0: it did not wait. */
void ivl_watch_held(uint64_t guard, const ivl_interval *interval, uint64_t asked);
void ivl_watch_left(uint64_t guard);
/* Returns `sum` plus the time for which the interval, which has ended, held the guard. */
uint64_t ivl_watch_hold(const ivl_interval *interval, const char *name, uint64_t sum);

#endif
