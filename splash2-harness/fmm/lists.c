// SPDX-License-Identifier: GPL-2.0
/*
 * The lists of a box b (J. Carrier, L. Greengard, V. Rokhlin, "A Fast Adaptive Multipole
 * Algorithm for Particle Simulations", SIAM J. Sci. Stat. Comput. 9, 1988):
 *
 *	U	if b is a leaf: the leaves that touch it, and b
 *	V	of b's size: the children of what touches b's parent that do not touch b
 *	W	if b is a leaf: smaller boxes that do not touch it, but whose parents do
 *	X	the leaves whose W list has b: larger ones that touch b's parent, but not b
 *
 * They follow from one more: what touches b and is of its size, or a larger leaf. A
 * box gets it from its parent's, and so waits for the flag that the parent's worker sets;
 * it writes to itself only.
 */
#include "fmm.h"

/* One apart on the finest grid, and closed: they touch when they have a point in common. */
static bool overlap(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
	return a <= b + b_size && b <= a + a_size;
}

static bool touch(const struct box *a, const struct box *b)
{
	uint64_t a_size = UINT64_C(1) << (LEVELS - a->level);
	uint64_t b_size = UINT64_C(1) << (LEVELS - b->level);

	for (unsigned int axis = 0; axis < 2; axis++)
		if (!overlap(a->place[axis] & -a_size, a_size, b->place[axis] & -b_size, b_size))
			return false;
	return true;
}

/* A box that touches b's parent, and of which no child can stand for it. */
static void sort_in(struct box *b, struct box *other)
{
	if (other == b)
		return;
	if (touch(b, other))
		list_add(&b->near, other);
	else if (other->level == b->level)
		list_add(&b->v, other);
	else
		list_add(&b->x, other);
}

static void sort_in_children(struct box *b, const struct box *parent)
{
	for (unsigned int i = 0; i < 4; i++)
		if (parent->child[i])
			sort_in(b, parent->child[i]);
}

/* A box that touches the leaf b and is not larger. */
static void descend(struct box *b, struct box *other)
{
	if (other->is_leaf) {
		list_add(&b->u, other);
		return;
	}
	for (unsigned int i = 0; i < 4; i++) {
		struct box *child = other->child[i];

		if (child && touch(b, child))
			descend(b, child);
		else if (child)
			list_add(&b->w, child);
	}
}

static void build(struct box *b)
{
	b->near.count = 0;
	b->u.count = 0;
	b->v.count = 0;
	b->w.count = 0;
	b->x.count = 0;
	if (b->parent) {
		const struct list *near = &b->parent->near;

		sort_in_children(b, b->parent);
		for (uint32_t i = 0; i < near->count; i++)
			if (near->box[i]->is_leaf)
				sort_in(b, near->box[i]);
			else
				sort_in_children(b, near->box[i]);
	}
	if (b->is_leaf) {
		list_add(&b->u, b);
		for (uint32_t i = 0; i < b->near.count; i++)
			descend(b, b->near.box[i]);
	}
}

static void settle(struct box *b, const struct square *domain)
{
	uint64_t side = UINT64_C(1) << (LEVELS - b->level);

	b->size = ldexp(domain->size, -(int)b->level);
	b->centre.re = domain->corner.re +
		       ((double)(b->place[0] & -side) * 0x1p-32 * domain->size + b->size / 2);
	b->centre.im = domain->corner.im +
		       ((double)(b->place[1] & -side) * 0x1p-32 * domain->size + b->size / 2);
	b->children = 0;
	for (unsigned int i = 0; i < 4; i++)
		b->children += b->child[i] != NULL;
	b->arrived = 0;
	b->tree_work = 0;
	b->tree_particles = b->is_leaf ? b->particles : 0;
	for (unsigned int k = 0; k <= sim.terms; k++) {
		b->multipole[k] = (struct complex_number){ 0 };
		b->local[k] = (struct complex_number){ 0 };
	}
}

void lists_build(struct splash_worker *w, struct zone *zone)
{
	partition_taken(zone);
	for (uint32_t i = 0; i < zone->partition.count; i++) {
		struct box *b = zone->partition.box[i];

		settle(b, &zone->domain);
		if (b->parent)
			splash_flag_wait(w, &b->parent->lists_done);
		build(b);
		splash_flag_set(&b->lists_done);
	}
}
