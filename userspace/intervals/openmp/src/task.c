// SPDX-License-Identifier: LGPL-2.1-or-later
#include "task.h"
#include "taskgroup.h"

#include <stdlib.h>
#include <string.h>

#include <attach_queued.h>

/*
 * Queue lengths from which on a thread runs new tasks itself. In a recursion the oldest tasks are
 * large and rarely stolen: a short queue suffices, and queueing costs more than twice as much as a
 * call. If one thread creates all tasks, most are stolen, and it must not be busy when its queue
 * runs empty. A single thread queues tasks only so that chains of tasks do not become a recursion,
 * and for those of high priority.
 */
#define QUEUED_ALONE 1
#define QUEUED_LEAST 4
#define QUEUED_MOST(size) (8 + 8 * (size))
#define REVIEWED 64			/* tasks queued between reviews */
/* From this nesting on, tasks are queued in any case. Each level has a frame. */
#define DEEPEST 128u

/*
 * Limit per thread of tasks queued in any case, because of dependences or priority; the same as
 * libgomp's.
 */
#define UNBEGUN_MOST 64

#define BLOCK_BYTES 512

static struct ivl_depot depot;

__attribute__((constructor)) static void begin(void)
{
	ivl_depot_init(&depot, BLOCK_BYTES);
}

/* Not cleared. */
static struct task *allocate(struct member *self, size_t bytes)
{
	struct task *task = bytes <= BLOCK_BYTES ?
		ivl_block_get(&depot, &self->attached->tasks, -1) :
		gomp_allocate_aligned(_Alignof(struct task), bytes);

	if (!task)
		gomp_fatal("out of memory for a task");
	task->bytes = bytes;
	return task;
}

static void release(struct member *self, struct task *task)
{
	if (task->depends)
		gomp_depends_free(task);
	if (task->bytes <= BLOCK_BYTES)
		ivl_block_put(&depot, &self->attached->tasks, task);
	else
		free(task);
}

struct task *gomp_task_keep(struct member *self)
{
	struct task *task = self->task, *kept;

	if (__builtin_expect(!task->in_frame, 1))
		return task;
	kept = allocate(self, sizeof(*kept));
	*kept = *task;
	kept->bytes = sizeof(*kept);
	kept->in_frame = false;
	if (task->icv == &task->own_icv)
		kept->icv = &kept->own_icv;
	self->task = kept;
	return kept;
}

void gomp_tasks_leave(struct member *member)
{
	ivl_blocks_leave(&depot, &member->tasks);
}

bool gomp_task_cancelled_slowly(const struct member *self, const struct task *task)
{
	if (self->team && atomic_load_explicit(&self->team->cancelled, memory_order_relaxed))
		return true;
	for (const struct taskgroup *taskgroup = task->taskgroup; taskgroup;
	     taskgroup = taskgroup->outer) {
		if (atomic_load_explicit(&taskgroup->cancelled, memory_order_relaxed))
			return true;
		/* A construct's taskgroup is part of the enclosing one. */
		if (!taskgroup->workshare)
			break;
	}
	return false;
}

/* The last child of an ended task has ended. */
static void run_orphaned(struct ivl_work *work)
{
	struct task *task = (struct task *)((char *)work -
					    offsetof(struct task, orphaned.work));

	release(gomp_member(), task);
}

static const struct ivl_work_kind orphaned_kind = { .run = run_orphaned, .resumes = true };

/* Free the task now, or with its last child. */
static void end_memory(struct member *self, struct task *task)
{
	if (__builtin_expect(task->scope.elsewhere != 0, 0)) {
		task->orphaned = (struct ivl_waiter){ .work.kind = &orphaned_kind,
						      .runtime = ivl_this_runtime() };
		if (!ivl_scope_detach(&task->scope, &task->orphaned))
			return;
	}
	release(self, task);
}

void gomp_task_complete(struct member *self, struct task *task, struct ivl_group *group)
{
	if (task->node)
		gomp_depend_end(task);
	end_memory(self, task);
	ivl_group_done(group);
}

void gomp_tasks_begin(struct member *self)
{
	const unsigned int size = self->team->size;

	self->plain = !gomp_environment.cancellation;
	self->queued_most = size > 1 ? QUEUED_MOST(size) :
			    gomp_environment.max_priority ? QUEUED_LEAST : QUEUED_ALONE;
	self->unreviewed = REVIEWED;
	atomic_store_explicit(&self->stolen, 0, memory_order_relaxed);
}

static void review(struct member *self)
{
	/* Relaxed: a guess. */
	const unsigned int stolen = atomic_exchange_explicit(&self->stolen, 0,
							     memory_order_relaxed);

	if (self->team->size > 1)
		self->queued_most = stolen < REVIEWED / 2 ? QUEUED_LEAST :
							    QUEUED_MOST(self->team->size);
	self->unreviewed = REVIEWED;
}

/* Within its parent's sync, or on a fiber of a thief. */
static void run(void *arg)
{
	struct task *task = arg;
	struct member *self = gomp_self;
	struct task *before = self->task;
	struct ivl_local *local = ivl_local();
	struct ivl_finish *finish = local->finish;
	struct ivl_group *group = gomp_group_of(self, task->taskgroup);
	bool runs;

	if (task->creator != self)
		atomic_fetch_add_explicit(&task->creator->stolen, 1, memory_order_relaxed);
	self->task = task;
	local->finish = (struct ivl_finish *)group;
	runs = __builtin_expect(!gomp_task_cancelled(self, task), 1) || task->constructed;
	if (runs)
		task->function(task->data);
	self->task = before;
	local->finish = finish;
	if (__builtin_expect(!task->event, 1))
		gomp_task_complete(self, task, group);
	else if (runs)
		gomp_event_happened(task->event);
	else
		gomp_event_discard(task->event);
}

void gomp_task_start(struct task *task)
{
	if (task->high)
		ivl_make_ready_high(ivl_this_runtime(), (struct ivl_work *)task->spawned.work, NULL);
	else
		ivl_spawn_prepared(ivl_this_runtime(), &task->spawned);
}

/* The runtime has two priorities. OMP_MAX_TASK_PRIORITY is 0 by default. */
static bool is_high(const struct order *order)
{
	return order->flags & TASK_PRIORITY && order->priority > 0 && gomp_environment.max_priority;
}

/* All fields used of a task without dependences and event. */
static inline __attribute__((always_inline)) void
init_plain(struct task *task, struct task *parent, unsigned int flags)
{
	task->scope = (struct ivl_scope)IVL_SCOPE_INIT;
	task->parent = parent;
	task->taskgroup = parent->taskgroup;
	task->icv = parent->icv;
	task->depends = NULL;
	task->final = parent->final || flags & TASK_FINAL;
	task->in_frame = true;
	task->nesting = parent->nesting + 1;
}

static void init(struct task *task, struct task *parent, const struct order *order)
{
	init_plain(task, parent, order->flags);
	task->in_frame = false;
	task->function = order->function;
	task->node = NULL;
	task->event = NULL;
	task->constructed = false;
}

static void copy(void *to, const struct order *order)
{
	if (order->copy)
		order->copy(to, order->data);
	else if (order->bytes)
		memcpy(to, order->data, order->bytes);
	if (order->head)
		memcpy(to, order->head, order->head_bytes);
}

static void *align(void *memory, size_t alignment)
{
	return (void *)(((uintptr_t)memory + alignment - 1) & ~(uintptr_t)(alignment - 1));
}

/* Copied data are in the caller's frame. */
static void run_included(struct member *self, const struct order *order)
{
	struct task *parent = self->task, *task = allocate(self, sizeof(*task));
	char room[order->copy || order->head ? order->bytes + order->alignment : 1];
	char *data = order->data;

	init(task, parent, order);
	if (order->flags & TASK_DETACH)
		gomp_event_make(task, order);
	if (order->copy || order->head) {
		data = align(room, order->alignment);
		copy(data, order);
	}
	if (order->flags & TASK_DEPEND && parent->depends) {
		gomp_depend(parent, task, order->depend, true);
		gomp_depend_wait(task);
	}
	self->task = task;
	task->function(data);
	self->task = parent;
	if (task->event)
		gomp_event_wait(task);
	if (task->node)
		gomp_depend_end(task);
	end_memory(self, task);
}

/* Is enough queued that the caller runs this task itself? */
static bool has_enough(const struct member *self, const struct order *order)
{
	return ivl_attached_has_queued(self->queued_most) ||
	       (is_high(order) && ivl_attached_has_high(UNBEGUN_MOST * self->team->size));
}

void gomp_task_create(struct member *self, const struct order *order)
{
	const bool waits = order->flags & TASK_DEPEND;
	struct task *parent, *task;
	bool now;

	if (__builtin_expect(gomp_task_cancelled(self, self->task), 0)) {
		if (order->flags & TASK_DETACH)
			*(void **)order->detach = NULL;
		return;
	}
	now = !self->team || order->now || self->task->final;
	/* The caller may be about to fulfil the event, or that of a predecessor. */
	if (!now && self->team->undeferred && order->flags & TASK_DETACH)
		gomp_team_queue_tasks(self);
	if (now || self->team->undeferred ||
	    (!(order->flags & (TASK_DETACH | TASK_DEPEND)) && self->task->nesting < DEEPEST &&
	     has_enough(self, order))) {
		run_included(self, order);
		return;
	}
	if (__builtin_expect(gomp_team_leaves(gomp_team_waiting(self->team, 1)), 0))
		gomp_team_await_leaving(gomp_team_waiting(self->team, 1));
	if (!--self->unreviewed)
		review(self);
	parent = gomp_task_keep(self);
	/* Not while holding a lock that the children may wait for. */
	if (waits && parent->nesting < GOMP_LOCKED)
		gomp_depend_throttle(parent, UNBEGUN_MOST * self->team->size);
	task = allocate(self, sizeof(*task) + order->alignment - 1 + order->bytes);
	init(task, parent, order);
	task->nesting = 0;
	task->creator = self;
	task->high = is_high(order);
	/* The parent may change its own ICVs. */
	gomp_icv_own(task);
	task->data = align(task + 1, order->alignment);
	if (order->flags & TASK_DETACH) {
		gomp_event_make(task, order);
		gomp_event_prepare(parent, task, gomp_group_of(self, task->taskgroup));
	}
	copy(task->data, order);
	task->constructed = order->copy;
	ivl_group_add(gomp_group_of(self, task->taskgroup));
	if (__builtin_expect(waits || task->high, 0)) {
		ivl_spawn_prepare(&parent->scope, &task->spawned, run, task);
		if (!waits || !gomp_depend(parent, task, order->depend, false))
			gomp_task_start(task);
	} else if (__builtin_expect(ivl_spawn(&parent->scope, &task->spawned, run, task) != 0, 0)) {
		run(task);
	}
}

/* The common case: nothing to copy or to wait for. */
static inline __attribute__((always_inline)) void
run_plain(struct member *self, void (*function)(void *), void *data, unsigned int flags)
{
	struct task *parent = self->task, *task, here;

	init_plain(&here, parent, flags);
	self->task = &here;
	function(data);
	task = self->task;
	self->task = parent;
	if (__builtin_expect(task != &here, 0))
		end_memory(self, task);
}

static inline bool is_plain(const struct member *self, void (*copy_data)(void *, void *),
			    unsigned int flags)
{
	return !copy_data && !(flags & (TASK_DEPEND | TASK_DETACH)) && self->plain &&
	       (self->task->final || (self->task->nesting < DEEPEST &&
				      ivl_attached_sees_queued(self->queued_most)));
}

/* Volatile: rarely used stack arguments are not loaded early. */
GOMP_PUBLIC void GOMP_task(void (*function)(void *), void *data,
			   void (*copy_data)(void *, void *), long bytes, long alignment,
			   bool condition, unsigned int flags, void **volatile depend,
			   volatile int priority, void *volatile detach)
{
	struct member *self = gomp_self;

	if (self && is_plain(self, copy_data, flags)) {
		run_plain(self, function, data, flags);
	} else {
		const struct order order = { .function = function, .data = data,
					     .copy = copy_data, .bytes = (size_t)bytes,
					     .alignment = (size_t)alignment, .now = !condition,
					     .flags = flags, .depend = depend, .detach = detach,
					     .priority = priority };

		gomp_task_create(gomp_member(), &order);
	}
}

static void sync(struct task *task)
{
	struct gomp_waits waits = gomp_waits_begin(false);

	ivl_sync(&task->scope);
	gomp_waits_end(waits);
}

void gomp_sync_children(struct task *task)
{
	if (task->scope.elsewhere)
		sync(task);
}

GOMP_PUBLIC void GOMP_taskwait(void)
{
	gomp_sync_children(gomp_member()->task);
}

GOMP_PUBLIC void GOMP_taskwait_depend(void **depend)
{
	struct member *self = gomp_member();
	struct task task = { .parent = self->task };

	if (!self->team || !self->task->depends)
		return;
	gomp_depend(self->task, &task, depend, true);
	gomp_depend_wait(&task);
	gomp_depend_end(&task);
}

static void do_nothing(void *data)
{
	(void)data;
}

void gomp_task_create_empty(void **depend)
{
	const struct order order = { .function = do_nothing, .alignment = 1,
				     .flags = TASK_DEPEND, .depend = depend };

	gomp_task_create(gomp_member(), &order);
}

GOMP_PUBLIC void GOMP_taskwait_depend_nowait(void **depend)
{
	gomp_task_create_empty(depend);
}

GOMP_PUBLIC void GOMP_taskyield(void)
{
	struct gomp_waits waits = gomp_waits_begin(false);

	if (waits.self->team)
		ivl_attached_yield();
	gomp_waits_end(waits);
}

void gomp_group_wait(struct taskgroup *taskgroup)
{
	struct gomp_waits waits = gomp_waits_begin(false);

	ivl_group_wait(&taskgroup->group);
	gomp_waits_end(waits);
}
