// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Spawn and sync (SLAW, section III).
 *
 * Work-first: the child runs at once on a fiber of its own, and the spawner goes into the queue. If
 * the spawner is still there when the child returns, both continue as after a call. Help-first: the
 * child goes into the queue, and sync takes it out. Without a free fiber, work-first spawns
 * help-first.
 *
 * The adaptive policy spawns help-first. A task in its spawner's frame needs no memory that the
 * policy would have to bound, and queueing it costs less than a fiber (fast bench runtime, fib and
 * fj). Asyncs need memory and adapt as in SLAW (async.c).
 *
 * A child that neither its spawner nor its scope's sync sees return reports to scope->left. Sync
 * adds the number of these children, `elsewhere`, and waits unless the sum is 0. The report that
 * makes it 0 wakes the waiter.
 *
 * A child for which no stack can be had goes back to its scope: sync runs it on its own stack. Where
 * stacks are scarce, the last child of a scope goes back before a stack is made for it: a deep
 * recursion whose children are stolen would leave a nearly empty stack at each steal.
 */
#include <assert.h>
#include <errno.h>

#include "attach.h"
#include "deadlock.h"
#include "run_queue.h"
#include "switching.h"
#include "watch/watch.h"

static_assert(sizeof(struct ivl_work) == sizeof(((struct ivl_task *)0)->work),
	      "a task's work has room");

static struct ivl_work *work_of(struct ivl_task *task)
{
	return (struct ivl_work *)task->work;
}

static struct ivl_task *task_of(struct ivl_work *work)
{
	return (struct ivl_task *)work;
}

static _Atomic int64_t *left_of(struct ivl_scope *scope)
{
	return (_Atomic int64_t *)&scope->left;
}

/* A child elsewhere has returned. Returns the waiter if it was the last. */
static struct ivl_waiter *report(struct ivl_scope *scope)
{
	/*
	 * Acquire and release: the waiter sees what all children wrote. Pairs with itself,
	 * ivl_publish_sync() and ivl_sync().
	 */
	if (atomic_fetch_sub_explicit(left_of(scope), 1, memory_order_acq_rel) == 1)
		return scope->waiter;
	return NULL;
}

static void run_child(struct ivl_work *work)
{
	struct ivl_task *task = task_of(work);
	struct ivl_scope *scope = task->scope;
	struct ivl_local *local = ivl_local();
	struct ivl_waiter *waiter;

	*local = (struct ivl_local){ task->context[0], task->context[1], ivl_task_begins(), NULL };
	task->function(task->arg);
	ivl_task_ends(local);
	waiter = report(scope);
	if (waiter)
		ivl_wake_next(waiter);
}

static void refuse_child(struct ivl_work *work)
{
	struct ivl_task *task = task_of(work);
	_Atomic(void *) *refused = (_Atomic(void *) *)&task->scope->refused;
	struct ivl_waiter *waiter;

	/* Relaxed: the report comes later, and releases. */
	task->context[0] = atomic_load_explicit(refused, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(refused, &task->context[0], task,
						      memory_order_relaxed, memory_order_relaxed))
		;
	waiter = report(task->scope);
	if (waiter)
		ivl_wake(waiter);
}

/* Not before its spawner waits: until then `left` is at most 0. */
static bool is_last_and_fits(const struct ivl_work *work)
{
	struct ivl_scope *scope = task_of((struct ivl_work *)work)->scope;

	return atomic_load_explicit(left_of(scope), memory_order_acquire) == 1 &&
	       ivl_waiter_stack_left(scope->waiter) > IVL_SYNC_STACK;
}

/* The spawner's finish waits for the child too, mostly through the scope's sync. */
static const struct ivl_work_kind child_kind = {
	.run = run_child,
	.refuse = refuse_child,
	.runs_at_waiter = is_last_and_fits,
	.awaited_by = offsetof(struct ivl_task, context[1]),
};

/*
 * Here and in ivl_sync(): a take waits until the store buffer has drained. Rare cases are functions
 * of their own, called last, so that the common case saves no registers.
 */
static int put_slowly(struct ivl_worker *worker, struct ivl_task *task)
{
	int error = ivl_put_slowly(worker, work_of(task));

	if (error)
		task->scope->elsewhere--;
	else if (ivl_mail_due(worker))
		ivl_give_way(worker);
	return error;
}

static int spawn_work_first(struct ivl_worker *worker, struct ivl_task *task);

/* Mail first, if it is due. Returns the worker on which the caller continues. */
static struct ivl_worker *take_mail(struct ivl_worker *worker)
{
	if (ivl_mail_waited(worker))
		ivl_give_way(worker);
	return ivl_self();
}

/* For all policies. */
static int spawn_watched(struct ivl_worker *worker, struct ivl_task *task)
{
	const bool work_first = worker->runtime->config.policy == IVL_WORK_FIRST;
	int error;

	ivl_watch_spawn(task);
	if (work_first)
		worker = take_mail(worker);
	if (work_first && ivl_fiber_there(worker)) {
		task->scope->elsewhere--;
		error = spawn_work_first(worker, task);
	} else {
		error = put_slowly(worker, task);
	}
	if (error)
		ivl_watch_unspawn(task);
	ivl_watch_spawned();
	return error;
}

__attribute__((noinline)) static int spawn_slowly(struct ivl_worker *worker, struct ivl_task *task)
{
	return ivl_is_watched(worker) ? spawn_watched(worker, task) : put_slowly(worker, task);
}

/* Like ivl_idle_wake_near(); may wait. */
__attribute__((noinline)) static int heed(struct ivl_worker *worker)
{
	ivl_idle_wake_near(worker);
	if (ivl_mail_due(worker))
		ivl_give_way(worker);
	return 0;
}

static inline int spawn_help_first(struct ivl_worker *worker, struct ivl_task *task)
{
	work_of(task)->kind = &child_kind;
	task->context[0] = worker->fiber->local.interval;
	task->context[1] = worker->fiber->local.finish;
	task->scope->elsewhere++;
	if (__builtin_expect(!ivl_try_put(worker, work_of(task)), 0))
		return spawn_slowly(worker, task);
	return ivl_after_put(worker, heed);
}

/* The child has returned, and its spawner was taken; `taken` is other work. */
__attribute__((noinline)) static _Noreturn void end_alone(struct ivl_task *task,
							   struct ivl_work *taken)
{
	/* The task lives until the scope's sync, which waits for this report. */
	ivl_end_child(report(task->scope), taken);
}

static long run_child_first(struct ivl_task *task)
{
	struct ivl_worker *worker = ivl_self();
	struct ivl_fiber *const fiber = worker->fiber;
	struct ivl_work *taken;
	long error = ENOMEM;

	ivl_fiber_arrive(worker->fiber, true);
	if (__builtin_expect(!ivl_put(worker, work_of(task)), 1)) {
		task->function(task->arg);
		ivl_task_ends(&fiber->local);
		worker = ivl_self();
		taken = ivl_take(worker);
		if (__builtin_expect(taken != work_of(task), 0))
			end_alone(task, taken);
		error = 0;
	}
	ivl_back_to_spawner(worker, task->context[0]);
	return error;
}

/* Returns on the spawner's stack, which ThreadSanitizer must be told before this function ends. */
__attribute__((no_sanitize_thread)) static long child_main(void *arg)
{
	struct ivl_task *task = arg;
	struct ivl_fiber *spawner = task->context[0];
	long error = run_child_first(task);

	ivl_fiber_leave(NULL, spawner, true);
	return error;
}

static void resume_spawner(struct ivl_work *work)
{
	struct ivl_task *task = task_of(work);
	struct ivl_fiber *spawner = task->context[0];

	/* The spawner's child is on another worker, or has reported. */
	task->scope->elsewhere++;
	ivl_resume(ivl_self(), spawner);
}

static const struct ivl_work_kind spawner_kind = {
	.run = resume_spawner,
	.resumes = true,
	.spawner = true,
};

static int spawn_work_first(struct ivl_worker *worker, struct ivl_task *task)
{
	work_of(task)->kind = &spawner_kind;
	return ivl_work_first(worker, task, child_main);
}

/* Not inlined, or each help-first spawn would save registers for it. */
__attribute__((noinline)) static int spawn_work_first_if_possible(struct ivl_worker *worker,
								   struct ivl_task *task)
{
	return ivl_fiber_there(worker) ? spawn_work_first(worker, task) :
					 spawn_help_first(worker, task);
}

__attribute__((noinline)) static int spawn_with_mail(struct ivl_worker *worker,
						     struct ivl_task *task)
{
	return spawn_work_first_if_possible(take_mail(worker), task);
}

int ivl_spawn(struct ivl_scope *scope, struct ivl_task *task, ivl_function *function, void *arg)
{
	struct ivl_worker *worker = ivl_self();

	if (__builtin_expect(!worker, 0)) {
		function(arg);
		return 0;
	}
	task->function = function;
	task->arg = arg;
	task->scope = scope;
	if (worker->spawns_work_first)
		return ivl_mail_there(worker) ? spawn_with_mail(worker, task) :
						spawn_work_first_if_possible(worker, task);
	return spawn_help_first(worker, task);
}

bool ivl_publish_sync(void *arg, struct ivl_waiter *waiter)
{
	struct ivl_scope *scope = arg;
	const int64_t elsewhere = scope->elsewhere;

	scope->waiter = waiter;
	/* Release: the last child sees the waiter. Acquire: we see what the children wrote. */
	return atomic_fetch_add_explicit(left_of(scope), elsewhere, memory_order_acq_rel)
		+ elsewhere != 0;
}

bool ivl_describe_sync(const void *arg, struct ivl_inspection *inspection)
{
	struct ivl_scope *scope = (struct ivl_scope *)arg;
	unsigned int refused = 0;

	for (struct ivl_task *task = scope->refused; task; task = task->context[0])
		refused++;
	ivl_inspection_say(inspection, " waits in ivl_sync() for children: %lld",
			   (long long)atomic_load_explicit(left_of(scope), memory_order_relaxed));
	if (refused)
		ivl_inspection_say(inspection, ", %u of them without a stack", refused);
	return true;
}

static bool reported(struct ivl_scope *scope, int spins)
{
	/* Acquire: what the children wrote before they reported. */
	while (atomic_load_explicit(left_of(scope), memory_order_acquire) != -scope->elsewhere) {
		if (!spins--)
			return false;
		caa_cpu_relax();
	}
	return true;
}

/* The caller's number and cells are not the child's. */
__attribute__((noinline)) static void call_child_apart(struct ivl_local *local,
							struct ivl_task *task)
{
	struct ivl_cell *const cells = local->cells;
	const uint64_t own = local->task;

	local->task = ivl_task_begins();
	local->cells = NULL;
	task->function(task->arg);
	ivl_task_ends(local);
	local->task = own;
	local->cells = cells;
}

/* Run a child within its parent's sync; it is a task of its own (sync/mutex.h). */
static inline void call_child(struct ivl_worker *worker, struct ivl_task *task)
{
	struct ivl_local *local = &worker->fiber->local;

	/* Avoids stores in the common case: the next take would wait for them. */
	if (__builtin_expect(local->task != 0, 0))
		call_child_apart(local, task);
	else
		task->function(task->arg);
}

/* A child is elsewhere; `taken`, if any, is not a child of the scope. */
__attribute__((noinline)) static void sync_elsewhere(struct ivl_scope *scope,
						     struct ivl_work *taken)
{
	/* It runs elsewhere, on a stack of its own. */
	if (taken) {
		struct ivl_worker *worker = ivl_self();

		ivl_make_ready(worker->runtime, taken, worker->place);
	}
	if (!reported(scope, taken ? 0 : IVL_SYNC_SPINS))
		ivl_wait(ivl_publish_sync, scope);
	scope->elsewhere = 0;
	atomic_store_explicit(left_of(scope), 0, memory_order_relaxed);
	/* No other stack can be had, and a plain call would get no more. */
	while (__builtin_expect(scope->refused != NULL, 0)) {
		struct ivl_task *task = scope->refused;

		scope->refused = task->context[0];
		call_child(ivl_self(), task);
	}
}

void ivl_spawn_prepare(struct ivl_scope *scope, struct ivl_task *task, ivl_function *function,
		       void *arg)
{
	struct ivl_local *local = ivl_local();

	task->function = function;
	task->arg = arg;
	task->scope = scope;
	task->context[0] = local->interval;
	task->context[1] = local->finish;
	work_of(task)->kind = &child_kind;
	scope->elsewhere++;
}

void ivl_spawn_prepared(ivl_runtime *runtime, struct ivl_task *task)
{
	ivl_make_ready(runtime, work_of(task), NULL);
}

bool ivl_scope_detach(struct ivl_scope *scope, struct ivl_waiter *waiter)
{
	if (ivl_is_watched(ivl_self()))
		ivl_watch_leave(scope);
	return !scope->elsewhere || !ivl_publish_sync(scope, waiter);
}

static bool is_child(struct ivl_work *work, const struct ivl_scope *scope)
{
	return __builtin_expect(work && work->kind == &child_kind &&
				task_of(work)->scope == scope, 1);
}

/* Only the scope's owner changes scope->elsewhere. */
static inline void sync_children(struct ivl_scope *scope,
				 struct ivl_work *(*take)(struct ivl_worker *worker))
{
	while (scope->elsewhere) {
		struct ivl_worker *worker = ivl_self();
		struct ivl_work *work;

		if (!(scope->elsewhere & (IVL_SYNC_LOOKS - 1)) && ivl_mail_due(worker)) {
			ivl_give_way(worker);
			worker = ivl_self();
		}
		work = ivl_stack_left(worker) > IVL_SYNC_STACK ? take(worker) : NULL;
		if (!is_child(work, scope)) {
			sync_elsewhere(scope, work);
			return;
		}
		scope->elsewhere--;
		call_child(worker, task_of(work));
	}
}

__attribute__((noinline)) static void sync_without_deque(struct ivl_scope *scope)
{
	const bool watched = ivl_is_watched(ivl_self());
	void *children = watched ? ivl_watch_sync(scope) : NULL;

	sync_children(scope, ivl_take_slowly);
	if (watched)
		ivl_watch_synced(children);
}

static struct ivl_work *take_from_deque(struct ivl_worker *worker)
{
	return ivl_chase_lev_take(worker->deque);
}

__attribute__((noinline)) static void sync_slowly(struct ivl_scope *scope)
{
	if (!scope->elsewhere)
		return;
	/* All workers of a runtime have a deque, or none has. */
	if (ivl_self()->deque)
		sync_children(scope, take_from_deque);
	else
		sync_without_deque(scope);
}

void ivl_sync(struct ivl_scope *scope)
{
	struct ivl_worker *worker = ivl_self();
	struct ivl_work *work;

	if (scope->elsewhere != 1 || !worker->deque || worker->fiber->local.task ||
	    ivl_stack_left(worker) <= IVL_SYNC_STACK) {
		sync_slowly(scope);
		return;
	}
	work = ivl_chase_lev_take(worker->deque);
	if (__builtin_expect(!is_child(work, scope), 0)) {
		sync_elsewhere(scope, work);
		return;
	}
	scope->elsewhere = 0;
	task_of(work)->function(task_of(work)->arg);
}
