// SPDX-License-Identifier: LGPL-2.1-or-later
#include <omp.h>
#include <stdlib.h>

#include "park.h"
#include "task.h"

struct event {
	atomic_uint left;		/* of the end of the body and the fulfilment */
	struct task *task;
	ivl_runtime *runtime;		/* NULL: the task is undeferred */
	struct ivl_task spawned;
	struct ivl_group *group;	/* that counts the task */
	struct event *next;		/* in the team's list */
};

/* Added to `left` if the body will not run: the task does not wait for its event. */
#define DISCARDED 2

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

/* The program may still fulfil the event of a cancelled task. */
static void keep(struct team *team, struct event *event)
{
	struct event *first = atomic_load_explicit(&team->discarded, memory_order_relaxed);

	/* Relaxed: a barrier comes before they are freed. */
	do {
		event->next = first;
	} while (!atomic_compare_exchange_weak_explicit(&team->discarded, &first, event,
							memory_order_relaxed,
							memory_order_relaxed));
}

void gomp_events_free(struct team *team)
{
	struct event *event = atomic_load_explicit(&team->discarded, memory_order_relaxed), *next;

	for (; event; event = next) {
		next = event->next;
		free(event);
	}
	atomic_store_explicit(&team->discarded, NULL, memory_order_relaxed);
}

static void complete(void *arg)
{
	struct event *event = arg;
	struct task *task = event->task;
	struct ivl_group *group = event->group;
	struct member *self = gomp_member();

	if (atomic_load_explicit(&event->left, memory_order_relaxed))
		keep(self->team, event);
	else
		free(event);
	gomp_task_complete(self, task, group);
}

void gomp_event_prepare(struct task *parent, struct task *task, struct ivl_group *group)
{
	task->event->group = group;
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

void gomp_event_discard(struct event *event)
{
	ivl_runtime *runtime = event->runtime;

	/* `left` cannot become 0 any more. */
	atomic_fetch_add_explicit(&event->left, DISCARDED, memory_order_relaxed);
	ivl_spawn_prepared(runtime, &event->spawned);
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
	struct event *event = (struct event *)(uintptr_t)handle;

	/* NULL: the task was not created because of a cancellation. */
	if (event)
		gomp_event_happened(event);
}
