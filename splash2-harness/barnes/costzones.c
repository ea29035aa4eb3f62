// SPDX-License-Identifier: GPL-2.0
/*
 * Costzones (J. P. Singh et al., "Load Balancing and Data Locality in Adaptive
 * Hierarchical N-body Methods", 1995): the bodies in the order of the tree, cut into
 * pieces of equal work, where a body's work is what it was in the last step. Each
 * worker finds its own piece, and looks into no cell that is outside it.
 *
 * No lock: the pieces of sim.order do not overlap, and the tree is only read.
 */
#include "barnes.h"
#include "nbody/hilbert.h"

/* What lies before a node in the tree's order. */
struct before {
	uint64_t work, bodies;
};

struct search {
	struct zone *zone;
	uint64_t begin, end;	/* the work that is the zone's */
};

static void collect_leaf(const struct search *s, const struct leaf *leaf, struct before at)
{
	for (unsigned int i = 0; i < leaf->node.bodies; i++) {
		struct body *body = leaf->body[i];

		if (at.work >= s->begin && at.work < s->end) {
			sim.order[at.bodies] = body;
			if (s->zone->begin == s->zone->end)
				s->zone->begin = at.bodies;
			s->zone->end = at.bodies + 1;
		}
		at.work += body->work;
		at.bodies++;
	}
}

static void collect(const struct search *s, const struct node *node, struct before at,
		    struct hilbert curve)
{
	if (at.work >= s->end || at.work + node->work <= s->begin)
		return;
	if (node->is_leaf) {
		collect_leaf(s, (const struct leaf *)node, at);
		return;
	}
	for (unsigned int i = 0; i < 8; i++) {
		struct hilbert inside;
		unsigned int where = hilbert_child(3, curve, i, &inside);
		const struct node *child = child_of((const struct cell *)node, where);

		if (!child)
			continue;
		collect(s, child, at, inside);
		at.work += child->work;
		at.bodies += child->bodies;
	}
}

void costzones_find(const struct splash_worker *w, struct zone *zone)
{
	struct search s = { .zone = zone };

	splash_share(sim.root->node.work, w->opt->threads, w->id, &s.begin, &s.end);
	zone->begin = 0;
	zone->end = 0;
	collect(&s, &sim.root->node, (struct before){ 0 }, (struct hilbert){ 0 });
}
