// SPDX-License-Identifier: LGPL-2.1-or-later
#include <omp.h>
#include <stdlib.h>

#include "park.h"
#include "task.h"

struct event {
	atomic_uint left;		/* of the body's end and the fulfilling */
	struct task *task;
	ivl_runtime *runtime;		/* NULL: the task is run at once */
	struct ivl_task spawned;
};

void gomp_event_make(struct task *task, const struct order *order)
{
	struct event *event = gomp_allocate(sizeof(*event));

	atomic_store_explicit(&event->left, 2, memory_order_relaxed);
	event->task = task;
	task->event = event;
	*(void **)order->detach = event;
	if (order->data)
		*(void **)order->data = event;
}

static void complete(void *arg)
{
	struct event *event = arg;
	struct task *task = event->task;

	free(event);
	gomp_task_complete(gomp_member(), task);
}

void gomp_event_prepare(struct task *parent, struct task *task)
{
	task->event->runtime = ivl_this_runtime();
	ivl_spawn_prepare(&parent->scope, &task->event->spawned, complete, task->event);
}

void gomp_event_happened(struct event *event)
{
	ivl_runtime *runtime = event->runtime;

	/* Release and acquire: the task completes after both. */
	if (atomic_fetch_sub_explicit(&event->left, 1, memory_order_acq_rel) != 1 && runtime)
		return;
	if (runtime)
		ivl_spawn_prepared(runtime, &event->spawned);
	else
		gomp_unpark_all(&event->left);
}

static bool unfulfilled(const void *word, unsigned long arg)
{
	(void)arg;
	return atomic_load_explicit((const atomic_uint *)word, memory_order_acquire) == 2;
}

void gomp_event_wait(struct task *task)
{
	struct event *event = task->event;

	while (unfulfilled(&event->left, 0))
		gomp_park(&event->left, unfulfilled, 0);
	free(event);
}

GOMP_PUBLIC void omp_fulfill_event(omp_event_handle_t handle)
{
	gomp_event_happened((struct event *)(uintptr_t)handle);
}
