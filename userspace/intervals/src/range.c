// SPDX-License-Identifier: GPL-2.0
/* parallel_for: a range is halved, and one half spawned, until it is small enough. */
#include "worker.h"

/* Parts per worker where the caller does not say how large one is: room to balance. */
#define PARTS 8

struct range {
	size_t begin, end, grain;
	ivl_range *body;
	void *arg;
};

static void run_range(void *arg)
{
	struct range *whole = arg, right = *whole;
	struct ivl_scope scope = IVL_SCOPE_INIT;
	struct ivl_task task;
	struct range left = *whole;

	if (whole->end - whole->begin <= whole->grain) {
		whole->body(whole->begin, whole->end, whole->arg);
		return;
	}
	left.end = right.begin = whole->begin + (whole->end - whole->begin) / 2;
	if (ivl_spawn(&scope, &task, run_range, &left))
		run_range(&left);
	run_range(&right);
	ivl_sync(&scope);
}

void ivl_parallel_for(size_t begin, size_t end, size_t grain, ivl_range *body, void *arg)
{
	struct ivl_worker *worker = ivl_self();
	struct range whole = { begin, end, grain, body, arg };

	if (begin >= end)
		return;
	if (!grain) {
		const size_t workers = worker ? ivl_worker_count(worker->runtime) : 1;

		whole.grain = (end - begin) / (PARTS * workers);
		if (!whole.grain)
			whole.grain = 1;
	}
	run_range(&whole);
}
