// SPDX-License-Identifier: LGPL-2.1-or-later
/* parallel_for: halve the range, spawn one half, until it is small enough. */
#include "outside.h"

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

size_t ivl_grain(size_t count)
{
	const struct ivl_worker *worker = ivl_self();
	const size_t workers = worker ? ivl_worker_count(worker->runtime) : 1;
	const size_t grain = count / (IVL_PARTS_PER_WORKER * workers);
	const size_t finer = grain / IVL_PARTS_FINER;

	/* A late worker costs the loop less, and a spawn is little beside a long part. */
	return finer >= IVL_PART_LONG ? finer : grain ? grain : 1;
}

/* Where the loop runs, which says how many workers there are. */
static void begin_range(void *arg)
{
	struct range *whole = arg;

	if (!whole->grain)
		whole->grain = ivl_grain(whole->end - whole->begin);
	run_range(whole);
}

void ivl_parallel_for(size_t begin, size_t end, size_t grain, ivl_range *body, void *arg)
{
	struct range whole = { begin, end, grain, body, arg };

	if (begin >= end || ivl_run_parts_outside(end - begin, grain, begin_range, &whole))
		return;
	begin_range(&whole);
}
