// SPDX-License-Identifier: LGPL-2.1-or-later
#include "attach.h"

#include <futex.h>

#include "attach_queued.h"
#include "find.h"
#include "run_queue.h"
#include "external.h"
#include "switching.h"

#ifdef IVL_HAVE_VALGRIND
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

struct ivl_external *ivl_attach_prepare(ivl_runtime *runtime, unsigned int place)
{
	return ivl_external_create(runtime, ivl_place_at(runtime, place));
}

void ivl_attach_expect(ivl_runtime *runtime, unsigned int count)
{
	atomic_fetch_add_explicit(&runtime->all_asleep, count, memory_order_seq_cst);
}

void ivl_attach_expect_fewer(ivl_runtime *runtime, unsigned int count)
{
	atomic_fetch_sub_explicit(&runtime->all_asleep, count, memory_order_seq_cst);
}

/* `all_asleep` is never the smaller of the two: no reader sees all workers asleep in between. */
void ivl_attach_oversubscribed(ivl_runtime *runtime, bool oversubscribed)
{
	if (atomic_load_explicit(&runtime->oversubscribed, memory_order_relaxed) == oversubscribed)
		return;
	atomic_store_explicit(&runtime->oversubscribed, oversubscribed, memory_order_relaxed);
	/* As without membarrier(): each spawn checks for sleepers behind a fence. */
	if (oversubscribed) {
		ivl_attach_expect(runtime, 1);
		atomic_fetch_add_explicit(&runtime->attention, 1, memory_order_seq_cst);
	} else {
		atomic_fetch_sub_explicit(&runtime->attention, 1, memory_order_seq_cst);
		ivl_attach_expect_fewer(runtime, 1);
	}
}

/* Not under valgrind, which complains of a system call that it does not know. */
static bool has_either(void)
{
	static atomic_int known;
	int has = atomic_load_explicit(&known, memory_order_relaxed);

	/* Concurrent callers compute the same answer. */
	if (!has) {
		has = !RUNNING_ON_VALGRIND && ivl_futex_has_either() ? 1 : -1;
		atomic_store_explicit(&known, has, memory_order_relaxed);
	}
	return has > 0;
}

bool ivl_attached_wait(const _Atomic(uint32_t) *word, uint32_t value)
{
	const struct ivl_worker *worker = ivl_self();

	if (!worker || worker->fiber != &worker->base || !has_either())
		return false;
	ivl_external_wait_word(worker->external, word, value);
	return true;
}

struct ivl_worker *ivl_attach(struct ivl_external *ext)
{
	struct ivl_worker *before = ivl_self(), *worker = &ext->worker;

	worker->exceptions = ivl_exceptions_of_thread();
	ivl_thread_take(worker);
	if (before) {
		/* The thread may run on the stack of a task of the outer runtime. */
		worker->base.lowest = before->fiber->lowest;
#ifdef IVL_ASAN
		worker->base.highest = before->fiber->highest;
#endif
	}
	ivl_worker_self = worker;
	return before;
}

void ivl_detach(struct ivl_worker *before)
{
	ivl_attached_flush();
	ivl_worker_self = before;
}

void ivl_attached_flush(void)
{
	struct ivl_worker *worker = ivl_self();

	ivl_flush_deferred(worker->deferred, worker, NULL, false);
}

void ivl_attached_yield(void)
{
	struct ivl_worker *worker = ivl_self();
	struct ivl_work *work;

	if (!worker || worker->fiber != &worker->base)
		return;
	work = ivl_find(worker);
	if (work)
		ivl_run_work(worker, work);
}

bool ivl_attached_exclusive(bool exclusive)
{
	struct ivl_worker *worker = ivl_self();
	bool before = false;

	if (worker && worker->tied) {
		before = worker->fiber->exclusive;
		worker->fiber->exclusive = exclusive;
	}
	return before;
}

bool ivl_attached_has_queued(size_t count)
{
	const struct ivl_worker *worker = ivl_self();

	return worker->deque ? ivl_attached_sees_queued(count) :
			       ivl_pool_size(worker->pool) >= count;
}

bool ivl_attached_has_high(size_t count)
{
	return atomic_load_explicit(&ivl_self()->runtime->high, memory_order_relaxed) >= count;
}
