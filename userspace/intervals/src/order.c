// SPDX-License-Identifier: GPL-2.0
/*
 * Which points come before which.
 *
 * Edges can only be followed forward, from a point that has not occurred: then no
 * point behind it has, and all of them stay in memory.
 */
#include "model.h"

static bool contains(const struct ivl_interval *outer, const struct ivl_interval *inner)
{
	while (inner->depth > outer->depth)
		inner = inner->parent;
	return inner == outer;
}

struct ivl_interval *ivl_common(struct ivl_interval *a, struct ivl_interval *b)
{
	while (a->depth > b->depth)
		a = a->parent;
	while (b->depth > a->depth)
		b = b->parent;
	while (a != b) {
		a = a->parent;
		b = b->parent;
	}
	return a;
}

bool ivl_tree_before(const struct ivl_point *before, const struct ivl_point *after)
{
	const struct ivl_interval *i = ivl_interval_of(before), *j = ivl_interval_of(after);

	if (i == j)
		return !before->is_end && after->is_end;
	/* Into what start is around, and out of what end is inside. */
	return (!before->is_end && contains(i, j)) || (after->is_end && contains(j, i));
}

/*
 * Sequentially consistent, as is the exchange that puts an edge into a list
 * (point.c): of two threads that each add an edge and then look for a path through
 * the other's, at least one finds it.
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
	/* Beyond the end of what is around `to` no path leads back to it. */
	for (; !contains(i, goal); i = i->parent)
		if (has_edges(&i->end))
			return true;
	return false;
}

struct search {
	uint64_t number;
	struct ivl_point *goal, *stack;
	bool found;
};

static void visit(struct search *search, struct ivl_point *point)
{
	const bool around = ivl_interval_of(point)->around == search->number;

	/* From the start of what contains the goal there is a path in the tree. */
	if (point == search->goal || (around && !point->is_end))
		search->found = true;
	/* No path leads back into an interval from its end. */
	if (point->seen == search->number || around)
		return;
	point->seen = search->number;
	point->below = search->stack;
	search->stack = point;
}

static void visit_next(struct search *search, struct ivl_point *point)
{
	struct ivl_interval *interval = ivl_interval_of(point);
	struct ivl_edge *edge = atomic_load_explicit(&point->out, memory_order_seq_cst);

	for (; edge; edge = edge->next) {
		uintptr_t next = atomic_load_explicit(&edge->to, memory_order_relaxed);

		if (!(next & (IVL_EDGE_DEAD | IVL_EDGE_JOIN)))
			visit(search, (struct ivl_point *)next);
	}
	if (!point->is_end)
		visit(search, &interval->end);
	else if (interval->parent)
		visit(search, &interval->parent->end);
}

bool ivl_search(struct ivl_point *from, struct ivl_point *to)
{
	struct search search = { .number = ++ivl_interval_of(to)->model->search, .goal = to };

	for (struct ivl_interval *i = ivl_interval_of(to); i; i = i->parent)
		i->around = search.number;
	visit(&search, from);
	while (search.stack && !search.found) {
		struct ivl_point *point = search.stack;

		search.stack = point->below;
		visit_next(&search, point);
	}
	return search.found;
}

bool ivl_reaches(struct ivl_point *from, struct ivl_point *to)
{
	struct ivl_model *model = ivl_interval_of(from)->model;
	bool found;

	if (ivl_tree_before(from, to))
		return true;
	if (!ivl_may_reach(from, to))
		return false;
	pthread_mutex_lock(&model->lock);
	found = ivl_search(from, to);
	pthread_mutex_unlock(&model->lock);
	return found;
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
	return point == &current->end || ivl_reaches(&current->end, point);
}

bool ivl_may_be_ahead(struct ivl_point *point)
{
	struct ivl_interval *current = ivl_local_here()->interval;
	struct ivl_interval *interval = ivl_interval_of(point);

	/* Made by what the caller's body has spawned, of which a part may schedule it now. */
	if (current && atomic_load_explicit(&interval->owner, memory_order_relaxed) == current)
		return true;
	return ivl_ahead(point);
}

bool ivl_happens_before(ivl_point *from, ivl_point *to)
{
	struct ivl_interval *interval = ivl_interval_of(from);

	if (from == to || interval->model != ivl_interval_of(to)->model)
		return false;
	if (ivl_tree_before(from, to))
		return true;
	if (ivl_ahead(from))
		return ivl_reaches(from, to);
	return !from->is_end && ivl_ahead(&interval->end) && ivl_reaches(&interval->end, to);
}
