// SPDX-License-Identifier: GPL-2.0
/*
 * Costzones (J. P. Singh et al., "Load Balancing and Data Locality in Adaptive
 * Hierarchical N-body Methods", 1995): the boxes in the order of the tree, cut into
 * pieces of equal work. A box's work follows from the lengths of its lists, which are
 * known when the tree is. Each worker finds its own piece, and looks into no box
 * that is outside it.
 *
 * Summing takes the parents' locks; finding takes none: the pieces do not overlap.
 */
#include "fmm.h"
#include "nbody/hilbert.h"

/* Of a pair of particles, with its logarithm, in multiplications of complex numbers. */
#define PAIR_WORK 8

static void find_work(struct box *box)
{
	uint64_t terms = sim.terms, n = box->particles, pairs = 0;

	/* Between expansions: the V list's, and the shift to the parent and from it. */
	box->work = terms * terms * (box->v.count + 1);
	for (uint32_t i = 0; i < box->x.count; i++)
		box->work += terms * box->x.box[i]->particles;
	if (box->is_leaf) {
		for (uint32_t i = 0; i < box->u.count; i++)
			pairs += n * box->u.box[i]->particles;
		/* Evaluating an expansion is finding a function and its derivative. */
		box->work += PAIR_WORK * pairs + 2 * n * terms * (box->w.count + 2);
	}
	box->tree_work += box->work;
}

static void add_to_parent(const struct box *box)
{
	box->parent->tree_work += box->tree_work;
	box->parent->tree_particles += box->tree_particles;
}

void costzones_sum(struct splash_worker *w, const struct zone *zone)
{
	partition_climb(w, &zone->partition, find_work, add_to_parent);
}

/* What lies before a box in the tree's order. */
struct before {
	uint64_t work, particles;
};

struct search {
	struct zone *zone;
	uint64_t begin, end;	/* the work that is the zone's */
};

/* Sorts the particles by number, so that sums do not depend on the order of insertion. */
static void sort_particles(struct box *leaf)
{
	for (unsigned int i = 1; i < leaf->particles; i++) {
		struct particle *p = leaf->particle[i];
		unsigned int j = i;

		for (; j > 0 && leaf->particle[j - 1] > p; j--)
			leaf->particle[j] = leaf->particle[j - 1];
		leaf->particle[j] = p;
	}
}

static void take_particles(struct zone *zone, struct box *leaf, uint64_t before)
{
	sort_particles(leaf);
	for (unsigned int i = 0; i < leaf->particles; i++) {
		sim.order[before + i] = leaf->particle[i];
		leaf->position[i] = leaf->particle[i]->position;
		leaf->mass[i] = leaf->particle[i]->mass;
	}
	if (zone->begin == zone->end)
		zone->begin = before;
	zone->end = before + leaf->particles;
}

/* A box comes after its children. */
static void collect(const struct search *s, struct box *box, struct before at, struct hilbert curve)
{
	if (at.work >= s->end || at.work + box->tree_work <= s->begin)
		return;
	for (unsigned int i = 0; i < 4; i++) {
		struct hilbert inside;
		struct box *child = box->child[hilbert_child(2, curve, i, &inside)];

		if (!child)
			continue;
		collect(s, child, at, inside);
		at.work += child->tree_work;
		at.particles += child->tree_particles;
	}
	if (at.work < s->begin || at.work >= s->end)
		return;
	list_add(&s->zone->partition, box);
	if (box->is_leaf)
		take_particles(s->zone, box, at.particles);
}

void costzones_find(const struct splash_worker *w, struct zone *zone)
{
	struct search s = { .zone = zone };

	splash_share(sim.root->tree_work, w->opt->threads, w->id, &s.begin, &s.end);
	zone->partition.count = 0;
	zone->begin = 0;
	zone->end = 0;
	collect(&s, sim.root, (struct before){ 0 }, (struct hilbert){ 0 });
	partition_sort(&zone->partition);
}
