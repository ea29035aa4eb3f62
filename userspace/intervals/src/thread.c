// SPDX-License-Identifier: LGPL-2.1-or-later
#include "thread.h"

#include "feedback.h"
#include "find.h"
#include "idle.h"
#include "process.h"
#include "switching.h"
#include "watch/watch.h"

void ivl_thread_take(struct ivl_worker *worker)
{
	if (ivl_is_watched(worker))
		ivl_watch_enter(worker);
#ifdef IVL_ASAN
	pthread_attr_t attributes;
	void *lowest;
	size_t bytes;

	pthread_getattr_np(pthread_self(), &attributes);
	pthread_attr_getstack(&attributes, &lowest, &bytes);
	pthread_attr_destroy(&attributes);
	worker->base.lowest = lowest;
	worker->base.highest = (char *)lowest + bytes;
#endif
#ifdef IVL_TSAN
	worker->base.tsan = __tsan_get_current_fiber();
#endif
}

void ivl_thread_enter(struct ivl_worker *worker, char *signal_stack)
{
	ivl_worker_self = worker;
	worker->exceptions = ivl_exceptions_of_thread();
	if (signal_stack)
		ivl_process_add_thread(signal_stack, IVL_SIGNAL_STACK);
	else
		ivl_process_add_visitor(IVL_SIGNAL_STACK);
	ivl_thread_take(worker);
}

void ivl_thread_leave(char *signal_stack)
{
	if (signal_stack)
		ivl_process_remove_thread(signal_stack);
	ivl_worker_self = NULL;
}

/* When too many workers are awake: only what no other worker can take. */
static struct ivl_work *find_if_wanted(struct ivl_worker *worker)
{
	return ivl_feedback_is_too_many(worker) ? ivl_find_own(worker) : ivl_find(worker);
}

void ivl_thread_work(struct ivl_worker *worker)
{
	struct ivl_work *(*const find)(struct ivl_worker *worker) =
		worker->feedback ? find_if_wanted : ivl_find;
	struct ivl_work *work;

	while (!ivl_leaves(worker) && ((work = find(worker)) || (work = ivl_idle(worker))))
		ivl_run_work(worker, work);
}
