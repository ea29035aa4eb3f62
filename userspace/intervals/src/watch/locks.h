/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Thread-owned locks held by tasks. libintervals-debug.so (debug/locks.c) wraps the program's
 * locking functions and reports each call; this file knows the task.
 */
#ifndef IVL_LOCKS_H
#define IVL_LOCKS_H

#include <stdbool.h>

struct ivl_fiber;

/* Called by the thread that locks and unlocks. */
struct ivl_lock_listener {
	struct ivl_lock_listener *next;	/* for the debug library */
	/* The caller has the lock, maybe recursively. The call returns to `caller`. */
	void (*locked)(const void *lock, const char *kind, void *caller);
	/* It is about to unlock. */
	void (*unlocked)(const void *lock);
};
/* In the debug library, for good. The process may contain several copies of the runtime. */
void ivl_debug_listen(struct ivl_lock_listener *listener) __attribute__((visibility("default")));

/* Start listening. False: the debug library is not loaded. */
bool ivl_locks_start(void);
/* In the child of a fork(). */
void ivl_locks_forget(void);

/* The task on this fiber waits, or other tasks of its thread may run. */
void ivl_locks_wait(const struct ivl_fiber *fiber);
/* The task on this fiber resumes in the calling thread. */
void ivl_locks_go_on(const struct ivl_fiber *fiber);

#endif
