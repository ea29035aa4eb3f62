/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Explicit tasks. */
#ifndef GOMP_TASK_H
#define GOMP_TASK_H

#include <gomp-abi.h>

#include "env.h"
#include "gomp.h"

/* What GOMP_task() was told. */
struct order {
	void (*function)(void *);
	void *data;
	void (*copy)(void *to, void *from);	/* NULL: by memcpy() */
	size_t bytes, alignment;
	bool now;			/* the if clause is false */
	unsigned int flags;
	void **depend;
	void *detach;
	int priority;			/* where flags have TASK_PRIORITY */
	const void *head;		/* what the copy begins with; NULL: as data does */
	size_t head_bytes;
};

/* Is this task's taskgroup or the team cancelled? */
bool gomp_task_cancelled_slowly(const struct member *self, const struct task *task);
static inline bool gomp_task_cancelled(const struct member *self, const struct task *task)
{
	return __builtin_expect(gomp_environment.cancellation, 0) &&
	       gomp_task_cancelled_slowly(self, task);
}

/* A region begins, with its queue empty. */
void gomp_tasks_begin(struct member *self);
/* The thread that the member is has ended. */
void gomp_tasks_leave(struct member *member);

void gomp_task_create(struct member *self, const struct order *order);
/* A task that does nothing but wait for what it depends on. */
void gomp_task_create_empty(void **depend);
/*
 * The task that runs, where others may have its address when it has ended: a task that is run at
 * once is in the frame of who runs it, which most need no longer. By itself, which moves then.
 */
struct task *gomp_task_keep(struct member *self);
/* The task is ready: its dependences are. */
void gomp_task_start(struct task *task);
/* It has ended, and what it was waited for; its memory goes when its children have ended. */
void gomp_task_complete(struct member *self, struct task *task, struct ivl_group *group);

/*
 * depend.c: true: it must wait, and gomp_task_start() follows when it need not any more; or it is
 * for gomp_depend_wait(), by the parent.
 */
bool gomp_depend(struct task *parent, struct task *task, void **depend, bool caller_waits);
void gomp_depend_wait(struct task *task);
/*
 * Before it makes one more: where more than so many of its queued children that have dependences
 * have not ended, the parent waits for some, unless all may be waiting for something that it does.
 */
void gomp_depend_throttle(struct task *parent, unsigned int most);
void gomp_depend_end(struct task *task);
void gomp_depends_free(struct task *parent);

/*
 * event.c: a detached task completes when its body has ended and its event is fulfilled: both
 * have happened then. By a child of its parent that is more, or, where its parent may not go on
 * before, when that has seen it.
 */
struct event;
void gomp_event_make(struct task *task, const struct order *order);
void gomp_event_prepare(struct task *parent, struct task *task, struct ivl_group *group);
void gomp_event_happened(struct event *event);
/* The body will not run. The event is there until the team begins its next region. */
void gomp_event_discard(struct event *event);
void gomp_events_free(struct team *team);
void gomp_event_wait(struct task *task);

#endif
