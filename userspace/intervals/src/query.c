// SPDX-License-Identifier: LGPL-2.1-or-later
/* Queries of a runtime and of this library. */
#include <string.h>

#include "feedback.h"
#include "external.h"
#include "process.h"

bool ivl_is_parents(const ivl_runtime *runtime)
{
	return runtime->process != ivl_process_id();
}

unsigned int ivl_version(void)
{
	return IVL_VERSION;
}

void **ivl_runtime_model(ivl_runtime *runtime)
{
	return &runtime->model;
}

ivl_runtime *ivl_this_runtime(void)
{
	struct ivl_worker *worker = ivl_self();

	return worker ? worker->runtime : NULL;
}

unsigned int ivl_place_count(const ivl_runtime *runtime)
{
	return runtime->topology->leaf_count;
}

const ivl_place *ivl_place_at(const ivl_runtime *runtime, unsigned int index)
{
	return &runtime->topology->leaves[index % runtime->topology->leaf_count];
}

const ivl_place *ivl_here(void)
{
	struct ivl_worker *worker = ivl_self();

	return worker ? worker->place : NULL;
}

unsigned int ivl_worker_count(const ivl_runtime *runtime)
{
	return runtime->topology->workers;
}

/* All fields are uint64_t. */
#define COUNTS (sizeof(struct ivl_statistics) / sizeof(uint64_t))

static void add_counts(uint64_t *sums, const struct ivl_worker *worker)
{
	const uint64_t *counts = (const uint64_t *)&worker->counts;

	/*
	 * Backwards: a part is declared after its whole and counted later, so it never exceeds it.
	 */
	for (size_t i = COUNTS; i-- > 0;)
		sums[i] += __atomic_load_n(&counts[i], __ATOMIC_ACQUIRE);
}

static void reset_counts(struct ivl_worker *worker)
{
	uint64_t *counts = (uint64_t *)&worker->counts;

	for (size_t i = 0; i < COUNTS; i++)
		__atomic_store_n(&counts[i], 0, __ATOMIC_RELAXED);
}

void ivl_statistics_read_size(const ivl_runtime *runtime, struct ivl_statistics *sum, size_t size)
{
	struct ivl_statistics all = { 0 };
	uint64_t *sums = (uint64_t *)&all;

	if (runtime->config.statistics) {
		for (unsigned int i = 0; i < runtime->topology->workers; i++)
			add_counts(sums, &runtime->workers[i]);
		for (struct ivl_external *ext = ivl_externals(runtime); ext; ext = ext->next)
			add_counts(sums, &ext->worker);
		all.fibers = ivl_stacks_made(runtime->stacks) -
			     atomic_load_explicit(&runtime->fibers_before, memory_order_relaxed);
		if (runtime->feedback)
			ivl_feedback_ask(runtime, &all);
	}
	memset(sum, 0, size);
	memcpy(sum, &all, size < sizeof(all) ? size : sizeof(all));
}

void ivl_statistics_reset(ivl_runtime *runtime)
{
	for (unsigned int i = 0; i < runtime->topology->workers; i++)
		reset_counts(&runtime->workers[i]);
	for (struct ivl_external *ext = ivl_externals(runtime); ext; ext = ext->next)
		reset_counts(&ext->worker);
	atomic_store_explicit(&runtime->fibers_before, ivl_stacks_made(runtime->stacks),
			      memory_order_relaxed);
	if (runtime->feedback)
		ivl_feedback_forget(runtime->feedback);
}
