// SPDX-License-Identifier: LGPL-2.1-or-later
/* Task-local storage: a list of cells in the context. */
#include <errno.h>
#include <stdlib.h>

#include "worker.h"

#define ROUNDS 4		/* POSIX's least PTHREAD_DESTRUCTOR_ITERATIONS */

struct ivl_cell {
	struct ivl_cell *next;
	const struct ivl_key *key;
	void *value;
};

uint64_t ivl_watched;

void ivl_key_init(struct ivl_key *key, void (*destructor)(void *value))
{
	key->destructor = destructor;
	/* Relaxed: users get the key from this thread, later. */
	__atomic_store_n(&ivl_watched, IVL_TASK_WATCHED, __ATOMIC_RELAXED);
}

static struct ivl_cell *find(const struct ivl_local *local, const struct ivl_key *key)
{
	struct ivl_cell *cell = local->cells;

	while (cell && cell->key != key)
		cell = cell->next;
	return cell;
}

void *ivl_key_get(const struct ivl_key *key)
{
	struct ivl_cell *cell = find(ivl_local(), key);

	return cell ? cell->value : NULL;
}

static int add(struct ivl_local *local, const struct ivl_key *key, void *value)
{
	struct ivl_cell *cell;

	if (!ivl_self())
		return ivl_error(EINVAL, "key_set: the caller is not a task");
	if (!(local->task & IVL_TASK_WATCHED))
		return ivl_error(EBUSY, "key_set: the task began before the first ivl_key_init()");
	cell = calloc(1, sizeof(*cell));
	if (!cell)
		return ivl_error(ENOMEM, "key_set: out of memory");
	*cell = (struct ivl_cell){ local->cells, key, value };
	local->cells = cell;
	return 0;
}

int ivl_key_set(const struct ivl_key *key, void *value)
{
	struct ivl_local *local = ivl_local();
	struct ivl_cell *cell = find(local, key);

	if (!cell)
		return value ? add(local, key, value) : 0;
	cell->value = value;
	return 0;
}

/* Destructors that set values make a new list. */
static void end_each(struct ivl_cell *cell, bool call)
{
	while (cell) {
		struct ivl_cell *next = cell->next;

		if (call && cell->value && cell->key->destructor)
			cell->key->destructor(cell->value);
		free(cell);
		cell = next;
	}
}

void ivl_end_cells(struct ivl_local *local)
{
	for (int round = 0; local->cells; round++) {
		struct ivl_cell *cells = local->cells;

		local->cells = NULL;
		end_each(cells, round < ROUNDS);
	}
}
