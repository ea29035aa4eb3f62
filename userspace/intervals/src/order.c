// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The happens-before order of points.
 *
 * Edges can only be followed forward from a point that has not occurred: then no later point has,
 * and all of them stay in memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mix.h"
#include "model.h"

static bool contains(const struct ivl_interval *outer, const struct ivl_interval *inner)
{
	return ivl_around_at((struct ivl_interval *)inner, outer->depth) == outer;
}

struct ivl_interval *ivl_common(struct ivl_interval *a, struct ivl_interval *b)
{
	a = ivl_around_at(a, b->depth);
	b = ivl_around_at(b, a->depth);
	/* Equal depths have equal jumps. */
	while (a != b) {
		const bool beyond = a->jump == b->jump;

		a = beyond ? a->parent : a->jump;
		b = beyond ? b->parent : b->jump;
	}
	return a;
}

bool ivl_tree_before(const struct ivl_point *before, const struct ivl_point *after)
{
	const struct ivl_interval *i = ivl_interval_of(before), *j = ivl_interval_of(after);

	if (i == j)
		return !before->is_end && after->is_end;
	/* The tree has paths from a start inwards and from an end outwards. */
	return (!before->is_end && contains(i, j)) || (after->is_end && contains(j, i));
}

/*
 * Seq_cst, like the exchange that adds an edge (point.c): of two threads that each add an edge and
 * then search for a path through the other's, at least one finds it.
 */
static bool has_edges(const struct ivl_point *point)
{
	return atomic_load_explicit(&point->out, memory_order_seq_cst) != NULL;
}

bool ivl_may_reach(struct ivl_point *from, struct ivl_point *to)
{
	const struct ivl_interval *goal = ivl_interval_of(to);
	const struct ivl_interval *i = ivl_interval_of(from);

	if (!from->is_end && has_edges(from))
		return true;
	/* No path leads back into an interval from beyond its end. */
	for (; !contains(i, goal); i = i->parent)
		if (has_edges(&i->end))
			return true;
	return false;
}

bool ivl_is_new(struct ivl_point *from, struct ivl_point *to)
{
	const struct ivl_interval *interval = ivl_interval_of(from);

	return interval->parent && contains(interval->parent, ivl_interval_of(to)) &&
	       !atomic_load_explicit(&interval->entered, memory_order_seq_cst) &&
	       !atomic_load_explicit(&interval->has_children, memory_order_seq_cst);
}

/* A search keeps its marks in memory of its own, so searches may run concurrently. */
#define SLOTS 256			/* of the first table, on the stack; a power of two */

struct search {
	struct ivl_point **found;	/* in the order found */
	size_t count, next;		/* next: the first not expanded */
	/* Hash set of visited points and of the goal's enclosing intervals; at most half full. */
	uintptr_t *table;
	size_t slots, used;
	uintptr_t first_table[SLOTS];
	struct ivl_point *first_found[SLOTS / 2];
};

static uintptr_t *slot_of(uintptr_t *table, size_t slots, uintptr_t key)
{
	size_t i = (size_t)ivl_mix(key) & (slots - 1);

	while (table[i] && table[i] != key)
		i = (i + 1) & (slots - 1);
	return &table[i];
}

static void forget(struct search *search)
{
	if (search->table == search->first_table)
		return;
	free(search->table);
	free(search->found);
}

static bool grow(struct search *search)
{
	const size_t slots = 4 * search->slots;
	uintptr_t *table = calloc(slots, sizeof(*table));
	struct ivl_point **found = calloc(slots / 2, sizeof(*found));

	if (!table || !found) {
		free(table);
		free(found);
		return false;
	}
	memcpy(found, search->found, search->count * sizeof(*found));
	for (size_t i = 0; i < search->slots; i++)
		if (search->table[i])
			*slot_of(table, slots, search->table[i]) = search->table[i];
	forget(search);
	search->table = table;
	search->found = found;
	search->slots = slots;
	return true;
}

/* 0: inserted; EEXIST; ENOMEM. */
static int insert(struct search *search, const void *key)
{
	uintptr_t *slot = slot_of(search->table, search->slots, (uintptr_t)key);

	if (*slot)
		return EEXIST;
	if (2 * (search->used + 1) > search->slots) {
		if (!grow(search))
			return ENOMEM;
		slot = slot_of(search->table, search->slots, (uintptr_t)key);
	}
	*slot = (uintptr_t)key;
	search->used++;
	return 0;
}

static bool is_around(struct search *search, const struct ivl_interval *interval)
{
	return *slot_of(search->table, search->slots, (uintptr_t)interval) != 0;
}

/* EDEADLK: reached the goal. */
static int visit(struct search *search, struct ivl_point *point, const struct ivl_point *goal)
{
	const bool around = is_around(search, ivl_interval_of(point));
	int error;

	/* The tree has a path from the start of what contains the goal. */
	if (point == goal || (around && !point->is_end))
		return EDEADLK;
	/* No path leads back into an interval from its end. */
	if (around)
		return 0;
	error = insert(search, point);
	if (!error)
		search->found[search->count++] = point;
	return error == EEXIST ? 0 : error;
}

static int visit_next(struct search *search, struct ivl_point *point, const struct ivl_point *goal)
{
	struct ivl_interval *interval = ivl_interval_of(point);
	struct ivl_edge *edge = atomic_load_explicit(&point->out, memory_order_seq_cst);
	int error = 0;

	for (; edge && !error; edge = edge->next) {
		uintptr_t next = atomic_load_explicit(&edge->to, memory_order_relaxed);

		if (!(next & (IVL_EDGE_DEAD | IVL_EDGE_JOIN)))
			error = visit(search, (struct ivl_point *)next, goal);
	}
	if (error)
		return error;
	if (!point->is_end)
		return visit(search, &interval->end, goal);
	return interval->parent ? visit(search, &interval->parent->end, goal) : 0;
}

int ivl_search(struct ivl_point *from, struct ivl_point *to)
{
	const struct ivl_interval *goal = ivl_interval_of(to);
	const struct ivl_interval *bound = ivl_common((struct ivl_interval *)goal,
						      ivl_interval_of(from))->parent;
	struct search search = { .slots = SLOTS };
	int error = 0;

	search.table = search.first_table;
	search.found = search.first_found;
	/* No path from here leads farther out than to what contains both. */
	for (; goal != bound && !error; goal = goal->parent)
		error = insert(&search, goal);
	if (!error)
		error = visit(&search, from, to);
	while (!error && search.next < search.count)
		error = visit_next(&search, search.found[search.next++], to);
	forget(&search);
	return error;
}

int ivl_reaches(struct ivl_point *from, struct ivl_point *to)
{
	if (ivl_tree_before(from, to))
		return EDEADLK;
	return ivl_may_reach(from, to) ? ivl_search(from, to) : 0;
}

int ivl_reaches_from_end(struct ivl_interval *current, struct ivl_point *point)
{
	int error;

	if (ivl_tree_before(&current->end, point))
		return EDEADLK;
	if (!ivl_may_reach(&current->end, point) || !ivl_expect(&current->end))
		return 0;
	error = ivl_search(&current->end, point);
	ivl_expect_no_more(&current->end);
	return error;
}

bool ivl_ahead(struct ivl_point *point)
{
	struct ivl_local *local = ivl_local_here();
	struct ivl_interval *current = local->interval;
	struct ivl_interval *interval = ivl_interval_of(point);
	const void *owner = atomic_load_explicit(&interval->owner, memory_order_relaxed);

	if (!current || current->model != interval->model)
		return false;
	if (owner == local)
		return point->is_end || !interval->started;
	return point == &current->end || ivl_reaches_from_end(current, point) == EDEADLK;
}

bool ivl_may_be_ahead(struct ivl_point *point)
{
	struct ivl_interval *current = ivl_local_here()->interval;
	struct ivl_interval *interval = ivl_interval_of(point);

	/* Created by a spawned part of the caller's body; another part may schedule it now. */
	if (current && atomic_load_explicit(&interval->owner, memory_order_relaxed) == current)
		return true;
	return ivl_ahead(point);
}

bool ivl_happens_before(ivl_point *from, ivl_point *to)
{
	struct ivl_interval *interval = ivl_interval_of(from);
	bool before;

	if (from == to || interval->model != ivl_interval_of(to)->model)
		return false;
	if (ivl_tree_before(from, to))
		return true;
	if (ivl_may_be_ahead(from) && ivl_expect(from)) {
		before = ivl_reaches(from, to) == EDEADLK;
		ivl_expect_no_more(from);
		return before;
	}
	return !from->is_end && ivl_ahead(&interval->end) &&
	       ivl_reaches(&interval->end, to) == EDEADLK;
}
