/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Locks that belong to threads, in the hands of tasks: libintervals-debug.so (debug/locks.c) has
 * the functions by which programs lock, and tells of each call. To which task it belongs is known
 * here.
 */
#ifndef IVL_LOCKS_H
#define IVL_LOCKS_H

#include <stdbool.h>

struct ivl_fiber;

/* By the thread that locks and unlocks. */
struct ivl_lock_listener {
	struct ivl_lock_listener *next;	/* the debug library's */
	/* It has the lock, maybe once more. The call returns to `caller`. */
	void (*locked)(const void *lock, const char *kind, void *caller);
	/* It is going to give the lock up. */
	void (*unlocked)(const void *lock);
};
/* Of the debug library: from now on and for ever. There may be several copies of the runtime. */
void ivl_debug_listen(struct ivl_lock_listener *listener) __attribute__((visibility("default")));

/* Is the debug library there? From now on it is listened to. */
bool ivl_locks_start(void);
/* In the child of a fork(). */
void ivl_locks_forget(void);

/* The task on this fiber, which runs, waits, or lets others of its thread run first. */
void ivl_locks_wait(const struct ivl_fiber *fiber);
/* The task on this fiber goes on in the calling thread. */
void ivl_locks_go_on(const struct ivl_fiber *fiber);

#endif
