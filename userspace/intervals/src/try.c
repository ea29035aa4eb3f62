// SPDX-License-Identifier: LGPL-2.1-or-later
/* Children and loops that may fail, built on plain ones, which pay nothing for it. */
#include "intervals.h"

#include <stdatomic.h>

static _Atomic(int) *error_of(struct ivl_try_scope *scope)
{
	return (_Atomic(int) *)&scope->error;
}

/* Relaxed, here and below: a reader that must see it has synced. */
void ivl_try_cancel(struct ivl_try_scope *scope, int error)
{
	int none = 0;

	atomic_compare_exchange_strong_explicit(error_of(scope), &none, error,
						memory_order_relaxed, memory_order_relaxed);
}

int ivl_try_error(struct ivl_try_scope *scope)
{
	return atomic_load_explicit(error_of(scope), memory_order_relaxed);
}

static void call(void *arg)
{
	struct ivl_try_task *task = arg;
	int error;

	if (ivl_try_error(task->scope))
		return;
	error = task->function(task->arg);
	if (error)
		ivl_try_cancel(task->scope, error);
}

int ivl_try_spawn(struct ivl_try_scope *scope, struct ivl_try_task *task, ivl_try *function,
		  void *arg)
{
	task->scope = scope;
	task->function = function;
	task->arg = arg;
	return ivl_spawn(&scope->scope, &task->task, call, task);
}

int ivl_try_sync(struct ivl_try_scope *scope)
{
	int error;

	ivl_sync(&scope->scope);
	error = ivl_try_error(scope);
	scope->error = 0;
	return error;
}

struct loop {
	struct ivl_try_scope scope;
	ivl_try_range *body;
	void *arg;
};

static void run_part(size_t begin, size_t end, void *arg)
{
	struct loop *loop = arg;
	int error;

	if (ivl_try_error(&loop->scope))
		return;
	error = loop->body(begin, end, loop->arg);
	if (error)
		ivl_try_cancel(&loop->scope, error);
}

int ivl_try_for(size_t begin, size_t end, size_t grain, ivl_try_range *body, void *arg)
{
	struct loop loop = { IVL_TRY_SCOPE_INIT, body, arg };

	ivl_parallel_for(begin, end, grain, run_part, &loop);
	return ivl_try_error(&loop.scope);
}
