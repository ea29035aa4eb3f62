// SPDX-License-Identifier: LGPL-2.1-or-later
/* Intervals that begin when they are made: ivl_run() and its kind. */
#include <errno.h>

#include <watch/watch.h>

#include "model.h"
#include "switching.h"
#include "waking.h"

/* Create an interval whose start has occurred. 0, ENOMEM, or EINVAL as in ivl_adopt(). */
static int make_started(struct ivl_interval **made, const char *what, struct ivl_interval *parent,
			const char *name, ivl_body *body, void *arg)
{
	struct ivl_interval *interval = ivl_make(parent, name, body, arg, NULL);
	int error;

	if (!interval)
		return ivl_error(ENOMEM, "%s%s%s: out of memory", what, name ? " " : "",
				 name ? name : "");
	error = ivl_adopt(interval, what);
	if (error)
		return error;
	interval->started = true;
	atomic_store_explicit(&interval->start.left, 0, memory_order_relaxed);
	atomic_store_explicit(&interval->start.out, IVL_CLOSED, memory_order_relaxed);
	if (ivl_is_watching())
		ivl_watch_arrive(&interval->start);
	*made = interval;
	return 0;
}

/* Returns its error. */
static int wait_and_release(struct ivl_interval *interval)
{
	const int error = ivl_wait_for(&interval->end);

	ivl_release(interval);
	return error;
}

/* The caller does not wait after all. */
static void stay(void)
{
	struct ivl_worker *worker = ivl_self();

	if (worker)
		ivl_report_ended(worker, false);
	ivl_stay();
}

/* The caller then waits for it. */
static void begin_run(ivl_runtime *runtime, struct ivl_interval *interval)
{
	struct ivl_worker *worker = ivl_self();
	const bool calls = worker && worker->runtime == runtime && !runtime->threadless &&
			   worker->fiber == &worker->base;

	if (!calls || !ivl_call_work(worker, &interval->work))
		ivl_make_ready_next(runtime, &interval->work, NULL);
}

int ivl_run(ivl_runtime *runtime, ivl_body *body, void *arg)
{
	struct ivl_model *model = *ivl_runtime_model(runtime);
	struct ivl_interval *interval;
	int error;

	if (ivl_is_parents(runtime))
		return ivl_error(ESRCH, "run: the workers exist only in the parent process");
	error = make_started(&interval, "run", &model->root, NULL, body, arg);
	if (error)
		return error;
	begin_run(runtime, interval);
	return wait_and_release(interval);
}

/* The interval whose error its maker asks for. */
static void contain(struct ivl_interval *interval)
{
	atomic_store_explicit(&interval->contained, true, memory_order_relaxed);
}

int ivl_submit(ivl_runtime *runtime, ivl_body *body, void *arg, const ivl_place *place,
	       ivl_interval **submitted)
{
	struct ivl_model *model = *ivl_runtime_model(runtime);
	struct ivl_interval *interval;
	int error;

	if (ivl_is_parents(runtime))
		return ivl_error(ESRCH, "submit: the workers exist only in the parent process");
	error = make_started(&interval, "submit", &model->root, NULL, body, arg);
	if (error)
		return error;
	interval->place = place;
	interval->submitted = true;
	ivl_submitted_add(runtime);
	if (submitted)
		*submitted = interval;
	else
		atomic_store_explicit(&interval->refs, 1, memory_order_relaxed);
	ivl_make_ready(runtime, &interval->work, place);
	return 0;
}

ivl_interval *ivl_launch(const char *name, ivl_body *body, void *arg, const ivl_place *place)
{
	struct ivl_interval *current = ivl_local_here()->interval;
	struct ivl_interval *interval;

	if (!current) {
		ivl_error(EINVAL, "launch %s: not inside an interval", name ? name : "");
		return NULL;
	}
	if (make_started(&interval, "launch", current, name, body, arg))
		return NULL;
	interval->place = place;
	contain(interval);
	ivl_make_ready(interval->model->runtime, &interval->work, place);
	return interval;
}

int ivl_inline(const char *name, ivl_body *body, void *arg)
{
	struct ivl_local *local = ivl_local_here();
	struct ivl_interval *interval;
	int error;

	if (!local->interval)
		return ivl_error(EINVAL, "inline %s: not inside an interval", name ? name : "");
	error = make_started(&interval, "inline", local->interval, name, body, arg);
	if (error)
		return error;
	contain(interval);
	ivl_run_body(interval, local);
	error = wait_and_release(interval);
	stay();
	return error;
}

int ivl_isolated(ivl_guard *const *guards, size_t count, ivl_body *body, void *arg)
{
	struct ivl_interval *current = ivl_local_here()->interval;
	struct ivl_batch batch = { .leaves = true };
	struct ivl_interval *interval;
	int error = 0;

	if (!current)
		return ivl_error(EINVAL, "isolated: not inside an interval");
	interval = ivl_make(current, NULL, body, arg, NULL);
	if (!interval)
		return ivl_error(ENOMEM, "isolated: out of memory");
	for (size_t i = 0; i < count && !error; i++)
		error = ivl_add_hold(interval, guards[i]);
	if (error) {
		ivl_interval_free(interval);
		return error;
	}
	error = ivl_adopt(interval, "isolated");
	if (error)
		return error;
	contain(interval);
	if (ivl_is_watching())
		ivl_watch_arrive(&interval->start);
	ivl_arrive_open(&interval->start, &batch);
	ivl_settle(&batch);
	error = wait_and_release(interval);
	stay();
	return error;
}
