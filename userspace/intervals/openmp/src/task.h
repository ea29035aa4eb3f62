/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Explicit tasks. */
#ifndef GOMP_TASK_H
#define GOMP_TASK_H

#include <gomp-abi.h>

#include "env.h"
#include "gomp.h"

/* Arguments of GOMP_task(). */
struct order {
	void (*function)(void *);
	void *data;
	void (*copy)(void *to, void *from);	/* NULL: by memcpy() */
	size_t bytes, alignment;
	bool now;			/* the if clause is false */
	unsigned int flags;
	void **depend;
	void *detach;
	int priority;			/* if flags have TASK_PRIORITY */
	const void *head;		/* replaces the begin of the copy, unless NULL */
	size_t head_bytes;
};

/* Is the task's taskgroup or the team cancelled? */
bool gomp_task_cancelled_slowly(const struct member *self, const struct task *task);
static inline bool gomp_task_cancelled(const struct member *self, const struct task *task)
{
	return __builtin_expect(gomp_environment.cancellation, 0) &&
	       gomp_task_cancelled_slowly(self, task);
}

/* A region begins, with an empty queue. */
void gomp_tasks_begin(struct member *self);
/* The member's thread has ended. */
void gomp_tasks_leave(struct member *member);

void gomp_task_create(struct member *self, const struct order *order);
/* A task that only waits for its dependences. */
void gomp_task_create_empty(void **depend);
/*
 * The running task with an address that stays valid after its end: an undeferred task is in its
 * caller's frame, and is moved by this. Called by itself.
 */
struct task *gomp_task_keep(struct member *self);
/* The task's dependences are met. */
void gomp_task_start(struct task *task);
/* The task has ended, with its event. Its memory is freed after its last child. */
void gomp_task_complete(struct member *self, struct task *task, struct ivl_group *group);

/*
 * depend.c. True: the task must wait; gomp_task_start() is called when it need not, or the parent
 * calls gomp_depend_wait().
 */
bool gomp_depend(struct task *parent, struct task *task, void **depend, bool caller_waits);
void gomp_depend_wait(struct task *task);
/*
 * If more than `most` queued children with dependences are left, the parent waits for some, unless
 * all may wait for the parent.
 */
void gomp_depend_throttle(struct task *parent, unsigned int most);
void gomp_depend_end(struct task *task);
void gomp_depends_free(struct task *parent);

/*
 * event.c: a detached task completes when its body has ended and its event is fulfilled; then an
 * extra child of its parent runs, or the waiting parent continues.
 */
struct event;
void gomp_event_make(struct task *task, const struct order *order);
void gomp_event_prepare(struct task *parent, struct task *task, struct ivl_group *group);
void gomp_event_happened(struct event *event);
/* The body will not run. The event is kept until the team's next region. */
void gomp_event_discard(struct event *event);
void gomp_events_free(struct team *team);
void gomp_event_wait(struct task *task);

#endif
