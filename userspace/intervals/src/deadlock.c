// SPDX-License-Identifier: LGPL-2.1-or-later
#include "deadlock.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fence.h"
#include "find.h"
#include "model.h"
#include "run_queue.h"
#include "external.h"
#include "watch/names.h"
#include "watch/watch.h"

bool ivl_awaits_wanted;

struct ivl_deadlock {
	pthread_mutex_t lock;		/* held by a search, or by stackless work */
	_Atomic(bool) closed;
	bool told;
};

int ivl_deadlock_create(ivl_runtime *runtime)
{
	runtime->deadlock = calloc(1, sizeof(*runtime->deadlock));
	if (!runtime->deadlock)
		return ENOMEM;
	pthread_mutex_init(&runtime->deadlock->lock, NULL);
	__atomic_store_n(&ivl_awaits_wanted, true, __ATOMIC_RELAXED);
	return 0;
}

void ivl_deadlock_destroy(struct ivl_deadlock *deadlock)
{
	if (deadlock)
		pthread_mutex_destroy(&deadlock->lock);
	free(deadlock);
}

void ivl_inspection_say(struct ivl_inspection *inspection, const char *format, ...)
{
	const size_t room = sizeof(inspection->words) - inspection->used;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(inspection->words + inspection->used, room, format, arguments);
	va_end(arguments);
	if (length > 0)
		inspection->used += (size_t)length < room ? (size_t)length : room - 1;
}

void ivl_describe_task(const struct ivl_fiber *fiber, struct ivl_inspection *inspection)
{
	const struct ivl_interval *interval = fiber->local.interval;
	const void *owner = interval ? atomic_load_explicit(&interval->owner,
							    memory_order_relaxed) : NULL;

	ivl_inspection_say(inspection, "%sinterval %s", owner == &fiber->local ? "" : "a task of ",
			   interval ? ivl_interval_name(interval) : "(none)");
}

/* Can only tasks make this fiber ready? Writes what it waits for. */
static bool describe(const struct ivl_fiber *fiber, struct ivl_inspection *inspection)
{
	static const struct {
		bool (*publish)(void *arg, struct ivl_waiter *waiter);
		bool (*describe)(const void *arg, struct ivl_inspection *inspection);
	} kinds[] = {
		{ ivl_publish_sync, ivl_describe_sync },
		{ ivl_publish_finish, ivl_describe_finish },
		{ ivl_publish_join, ivl_describe_join },
	};

	inspection->used = 0;
	inspection->words[0] = '\0';
	ivl_describe_task(fiber, inspection);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (fiber->publish == kinds[i].publish)
			return kinds[i].describe(fiber->awaits, inspection);
	return fiber->object.object && fiber->object.describe(fiber->object.object, inspection);
}

/* Are all workers asleep, without any work? */
static bool is_quiet(ivl_runtime *runtime)
{
	/* Equal means no mail: that is counted in the upper half. */
	if (atomic_load_explicit(&runtime->attention, memory_order_seq_cst) !=
	    atomic_load_explicit(&runtime->all_asleep, memory_order_seq_cst))
		return false;
	for (unsigned int i = 0; i < runtime->topology->workers; i++)
		if (ivl_pool_size(runtime->workers[i].pool) || ivl_returns(&runtime->workers[i]))
			return false;
	for (struct ivl_external *ext = ivl_externals(runtime); ext; ext = ext->next)
		if (ivl_pool_size(ext->worker.pool) || ivl_external_may_leave(ext))
			return false;
	return !ivl_stackless_there(runtime);
}

/* Is anything waiting, and all of it for tasks that wait? */
static bool is_stuck(struct ivl_inspection *inspection)
{
	bool any = false;

	for (const struct ivl_fiber *fiber = inspection->last; fiber; fiber = fiber->made) {
		if (!fiber->publish)
			continue;
		if (!describe(fiber, inspection))
			return false;
		any = true;
	}
	/* Refused work does not concern later waiters. */
	if (!any)
		atomic_store_explicit(&inspection->runtime->refused, 0, memory_order_relaxed);
	return any;
}

static void tell_line(const char *words, unsigned int times)
{
	if (times > 1)
		fprintf(stderr, "intervals:   %u times: %s\n", times, words);
	else if (times)
		fprintf(stderr, "intervals:   %s\n", words);
}

/* One line per waiting fiber; equal neighbours share a line. */
static void tell(struct ivl_inspection *inspection)
{
	const ivl_runtime *runtime = inspection->runtime;
	const unsigned int refused = atomic_load_explicit(&runtime->refused, memory_order_relaxed);
	unsigned int times = 0, lines = 0, left = 0;
	char before[sizeof(inspection->words)] = "";

	flockfile(stderr);
	fprintf(stderr, "intervals: deadlock: all workers have been asleep for %llu ms, and each "
		"waiting task depends on others that wait:\n",
		(unsigned long long)runtime->config.deadlock_ms);
	for (const struct ivl_fiber *fiber = inspection->last; fiber; fiber = fiber->made) {
		if (!fiber->publish)
			continue;
		describe(fiber, inspection);
		if (times && !strcmp(before, inspection->words)) {
			times++;
			continue;
		}
		if (lines == IVL_DEADLOCK_LINES) {
			left++;
			continue;
		}
		tell_line(before, times);
		lines++;
		times = 1;
		memcpy(before, inspection->words, sizeof(before));
	}
	tell_line(before, times);
	if (left)
		fprintf(stderr, "intervals:   and %u more\n", left);
	if (refused)
		fprintf(stderr, "intervals:   %u tasks have not begun: no memory for their "
			"stacks, or too many mappings (vm.max_map_count)\n",
			refused);
	funlockfile(stderr);
}

static void close_gate(struct ivl_deadlock *deadlock)
{
	pthread_mutex_lock(&deadlock->lock);
	atomic_store_explicit(&deadlock->closed, true, memory_order_relaxed);
	ivl_fence(memory_order_seq_cst);
}

static void open_gate(struct ivl_deadlock *deadlock)
{
	atomic_store_explicit(&deadlock->closed, false, memory_order_relaxed);
	pthread_mutex_unlock(&deadlock->lock);
}

void ivl_deadlock_gate(struct ivl_deadlock *deadlock)
{
	ivl_fence(memory_order_seq_cst);
	if (!atomic_load_explicit(&deadlock->closed, memory_order_relaxed))
		return;
	pthread_mutex_lock(&deadlock->lock);
	pthread_mutex_unlock(&deadlock->lock);
}

void ivl_deadlock_look(struct ivl_worker *worker)
{
	ivl_runtime *runtime = worker->runtime;
	struct ivl_inspection inspection = { .runtime = runtime,
					     .last = ivl_stacks_last(runtime->stacks) };

	close_gate(runtime->deadlock);
	if (!runtime->deadlock->told && is_quiet(runtime) && is_stuck(&inspection)) {
		runtime->deadlock->told = true;
		tell(&inspection);
	}
	open_gate(runtime->deadlock);
}

bool ivl_deadlock_serve_stackless(ivl_runtime *runtime)
{
	bool served;

	pthread_mutex_lock(&runtime->deadlock->lock);
	served = ivl_serve_stackless(runtime);
	pthread_mutex_unlock(&runtime->deadlock->lock);
	return served;
}
