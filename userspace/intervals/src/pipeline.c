// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A pipeline is a graph of intervals that grows at one end: the stages of an item are a chain, and
 * each serial stage is behind the same stage of the item before.
 */
#include "intervals_algorithms.h"

#include <errno.h>
#include <stdlib.h>

#include "outside.h"

/* A stage of one item. */
struct cell {
	const struct ivl_stage *stage;
	void *item;
	ivl_interval *interval;
};

struct pipeline {
	size_t tokens, count;
	ivl_source *source;
	void *arg;
	const struct ivl_stage *stages;
	struct cell *cells;		/* a row of `count` for each token */
	int error;
};

static int run_stage(ivl_interval *self, void *arg)
{
	const struct cell *cell = arg;

	(void)self;
	cell->stage->function(cell->item, cell->stage->arg);
	return 0;
}

static int add_edge(const struct cell *from, ivl_interval *to)
{
	return from && from->interval ?
		ivl_add_edge(ivl_end_point(from->interval), ivl_start_point(to)) : 0;
}

/* `before`: the row of the item before, or NULL. */
static int fill(const struct pipeline *all, ivl_interval *self, struct cell *row,
		const struct cell *before, void *item)
{
	int error = 0;

	for (size_t i = 0; i < all->count && !error; i++) {
		struct cell *cell = &row[i];

		cell->stage = &all->stages[i];
		cell->item = item;
		cell->interval = ivl_create(self, NULL, run_stage, cell, NULL);
		if (!cell->interval)
			return ENOMEM;
		error = add_edge(i ? cell - 1 : NULL, cell->interval);
		if (!error && before && cell->stage->serial)
			error = add_edge(&before[i], cell->interval);
	}
	return error;
}

static void release(const struct pipeline *all, struct cell *row)
{
	for (size_t i = 0; i < all->count; i++) {
		if (row[i].interval)
			ivl_release(row[i].interval);
		row[i].interval = NULL;
	}
}

/* Wait until the row's item has left the pipeline. */
static int await(const struct pipeline *all, struct cell *row)
{
	const struct cell *last = row + all->count - 1;
	const int error = all->count && last->interval ?
			  ivl_join(ivl_end_point(last->interval)) : 0;

	release(all, row);
	return error;
}

static int drive(ivl_interval *self, void *arg)
{
	struct pipeline *all = arg;
	const struct cell *before = NULL;
	int error = 0;

	for (size_t i = 0; !ivl_cancelled(); i++) {
		struct cell *row = all->cells + i % all->tokens * all->count;
		void *item;

		error = await(all, row);
		item = error ? NULL : all->source(all->arg);
		if (!item)
			break;
		error = fill(all, self, row, before, item);
		if (error)
			break;
		ivl_schedule();
		/* A single row is empty again before the next item. */
		before = all->tokens > 1 ? row : NULL;
	}
	return error;
}

static int alone(const struct pipeline *all)
{
	void *item;

	while ((item = all->source(all->arg)))
		for (size_t i = 0; i < all->count; i++)
			all->stages[i].function(item, all->stages[i].arg);
	return 0;
}

static void begin(void *arg)
{
	struct pipeline *all = arg;

	all->error = ivl_current() ? ivl_inline(NULL, drive, all) : alone(all);
}

int ivl_parallel_pipeline(size_t tokens, ivl_source *source, void *arg,
			  const struct ivl_stage *stages, size_t count)
{
	struct pipeline all = { tokens, count, source, arg, stages, NULL, 0 };

	if (!tokens)
		return ivl_error(EINVAL, "pipeline: no tokens");
	all.cells = calloc(tokens, (count ? count : 1) * sizeof(*all.cells));
	if (!all.cells)
		return ivl_error(ENOMEM, "pipeline: out of memory");
	if (!ivl_run_outside(begin, &all))
		begin(&all);
	for (size_t i = 0; i < tokens; i++)
		release(&all, all.cells + i * count);
	free(all.cells);
	return all.error;
}
