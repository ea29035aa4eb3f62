/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Watching a program: what its tasks, workers and guards do goes into a trace.
 *
 * Nothing of it is on the way of a spawn and its sync where nobody watches. The workers of a
 * runtime that is watched have no `deque`, so that each spawn comes by spawn_slowly()
 * (forkjoin.c). There a child's function is replaced by one that tells of its begin and
 * end, and nobody who calls it has to know. Asyncs are replaced as they are made; what is
 * left are tests of one pointer where something rare happens: a steal, a switch, a sleep.
 *
 * A lane (a thread's line in the picture) shows what runs there now. What waits leaves its
 * lane, and all of its slices end; they begin again where it goes on.
 */
#ifndef IVL_WATCH_H
#define IVL_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "watch/span.h"
#include "worker.h"

struct ivl_lane;

/* A task that has begun, in the frame of who calls its function. */
struct ivl_watched {
	struct ivl_watched *outer;	/* below it on the same fiber; or NULL */
	const char *name;
	uint64_t number;
	/* Where spans are wanted (watch/view.h): as far as it has come, and since when it runs. */
	struct ivl_span span;
	uint64_t since;			/* 0: it does not */
	bool waits;			/* it will run again when its fiber does */
	bool stops_outer;		/* the one below will, when this one has ended */
};

/* Is anything of the process watched? Before the first watched runtime starts: no. */
extern bool ivl_watching;

static inline bool ivl_is_watching(void)
{
	return __builtin_expect(__atomic_load_n(&ivl_watching, __ATOMIC_RELAXED), 0);
}

static inline bool ivl_is_watched(const struct ivl_worker *worker)
{
	return __builtin_expect(worker->watch != NULL, 0);
}

/* Does the environment ask for it? 0, or an errno value: what it asks for cannot be done. */
int ivl_watch_start(bool *wanted);
/* For a worker of a watched runtime, before it runs. NULL: ENOMEM. */
struct ivl_watch *ivl_watch_create(void);
void ivl_watch_destroy(struct ivl_watch *watch);
/* In the child of a fork(). */
void ivl_watch_forget(void);

/*
 * By a worker, where ivl_is_watched().
 */

/* The calling thread is its thread from now on. */
void ivl_watch_enter(struct ivl_worker *worker);
/* It goes on with another fiber. NULL: it has left the one before already. */
void ivl_watch_switch(struct ivl_worker *worker, const struct ivl_fiber *left,
		      const struct ivl_fiber *next);
/* It has stolen something. */
void ivl_watch_steal(struct ivl_worker *worker, struct ivl_worker *victim);
void ivl_watch_sleep(struct ivl_worker *worker);
void ivl_watch_wake(struct ivl_worker *worker);

/*
 * The task is going to be put into a queue; will not be, and is the caller's again; who has
 * spawned it goes on.
 */
void ivl_watch_spawn(struct ivl_task *task);
void ivl_watch_unspawn(struct ivl_task *task);
void ivl_watch_spawned(void);

/* In ivl_scope.elsewhere: ivl_watch_sync() has something to do before the sync. */
#define IVL_SCOPE_WATCHED (INT64_C(1) << 62)
/* What it returns is ivl_watch_synced()'s, behind the sync. */
void *ivl_watch_sync(struct ivl_scope *scope);
void ivl_watch_synced(void *children);
/* Nobody will sync the scope. */
void ivl_watch_leave(struct ivl_scope *scope);

/* As start(worker, finish, function, arg, bytes, place). */
int ivl_watch_async(ivl_start_async *start, struct ivl_worker *worker, struct ivl_finish *finish,
		    ivl_function *function, const void *arg, size_t bytes, const ivl_place *place);

/*
 * By anybody, where ivl_is_watching().
 */

/* All asyncs of the finish have ended, and its caller goes on. */
void ivl_watch_finished(const struct ivl_finish *finish);

/* How long the paths to the points of an interval are; NULL: nobody wants to know. */
struct ivl_reached *ivl_watch_make(void);
void ivl_watch_unmake(struct ivl_reached *reached);
/* The first point happens before the second, and has occurred. */
void ivl_watch_edge(const struct ivl_point *from, const struct ivl_point *to);
/* The interval's body has ended, or the caller, a part of it, schedules what was made there. */
void ivl_watch_scheduled(const ivl_interval *interval, const ivl_interval *made);
/* What the caller does happens before the point. */
void ivl_watch_arrive(const struct ivl_point *point);
/* It has waited for the point. */
void ivl_watch_joined(const struct ivl_point *point);

/* As ivl_call_body(), of its body. */
int ivl_watch_body(ivl_interval *interval);

/* The track of a new guard; 0: its runtime is not watched. */
uint64_t ivl_watch_guard(const ivl_runtime *runtime, const char *name);
/* Now; for ivl_watch_held(). */
uint64_t ivl_watch_now(void);
/* An interval has the guard. `asked`: when it began to wait for it; 0: it did not. */
void ivl_watch_held(uint64_t guard, const ivl_interval *interval, uint64_t asked);
/* And has it no longer. */
void ivl_watch_left(uint64_t guard);
/* How long it was held, all in all: `sum`, and by the interval, which has ended. */
uint64_t ivl_watch_hold(const ivl_interval *interval, const char *name, uint64_t sum);

#endif
