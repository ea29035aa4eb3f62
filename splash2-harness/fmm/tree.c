// SPDX-License-Identifier: GPL-2.0
/*
 * The quadtree, in two steps: each worker builds a tree of its zone's particles by
 * itself, then merges it into the common one, box by box. What has no counterpart there
 * is linked in with all that is below it, so that most of the work takes no lock.
 *
 * A box's lock guards its child[] in the common tree, and the contents of the leaves
 * there: a leaf that gets particles, is divided, or gives its place to a box with
 * children. A box with children stays where it is. No more than one lock is held.
 *
 * The tree depends on the particles' places only: a box is divided exactly when it has
 * more than LEAF_PARTICLES.
 */
#include <string.h>

#include "fmm.h"

/* A box has one of these. */
#define BOX_LOCKS 2048

/* A worker's boxes have the locks in turn; the other workers begin elsewhere. */
#define OWNER_STRIDE 61

static struct splash_lock locks[BOX_LOCKS];

void box_lock(struct splash_worker *w, struct box *box)
{
	splash_lock(w, &locks[box->lock]);
}

void box_unlock(struct box *box)
{
	splash_unlock(&locks[box->lock]);
}

static void prepare_box(void *item)
{
	struct box *box = item;

	splash_flag_init(&box->lists_done);
	splash_flag_init(&box->children_done);
	splash_flag_init(&box->local_done);
	box->multipole = splash_alloc(sim.terms + 1, sizeof(*box->multipole));
	box->local = splash_alloc(sim.terms + 1, sizeof(*box->local));
}

void tree_init(unsigned int threads)
{
	for (size_t i = 0; i < BOX_LOCKS; i++)
		splash_lock_init(&locks[i]);
	for (unsigned int id = 0; id < threads; id++)
		pool_init(&sim.zone[id].boxes, sizeof(struct box), prepare_box);
}

static struct box *make_box(struct zone *zone, const uint32_t *place, unsigned int level,
			    struct box *parent)
{
	size_t owner = (size_t)(zone - sim.zone);
	struct box *box = pool_take(&zone->boxes);

	memcpy(box->place, place, sizeof(box->place));
	box->level = (uint8_t)level;
	box->is_leaf = true;
	box->merged = false;
	box->lock = (zone->boxes.used + owner * OWNER_STRIDE) % BOX_LOCKS;
	box->particles = 0;
	box->parent = parent;
	memset(box->child, 0, sizeof(box->child));
	splash_flag_clear(&box->lists_done);
	splash_flag_clear(&box->local_done);
	return box;
}

struct box *tree_root(struct zone *zone)
{
	struct box *box = make_box(zone, (const uint32_t[2]){ 0 }, 0, NULL);

	box->is_leaf = false;
	return box;
}

static struct box *make_child(struct zone *zone, struct box *box, const struct particle *particle)
{
	unsigned int where = quadrant(particle->place, box->level);

	if (!box->child[where])
		box->child[where] = make_box(zone, particle->place, box->level + 1U, box);
	return box->child[where];
}

static void divide(struct zone *zone, struct box *leaf)
{
	if (leaf->level == LEVELS)
		splash_refuse("more than %d particles are in one place: lower --dtime",
			      LEAF_PARTICLES);
	leaf->is_leaf = false;
	for (unsigned int i = 0; i < leaf->particles; i++) {
		struct box *child = make_child(zone, leaf, leaf->particle[i]);

		child->particle[child->particles++] = leaf->particle[i];
	}
}

static void insert(struct zone *zone, struct box *box, struct particle *particle)
{
	while (!box->is_leaf || box->particles == LEAF_PARTICLES) {
		if (box->is_leaf)
			divide(zone, box);
		box = make_child(zone, box, particle);
	}
	box->particle[box->particles++] = particle;
}

static void merge_children(struct splash_worker *w, struct zone *zone, struct box *into,
			   struct box *own);

/* `own`, which no other worker can reach, becomes child `where` of `parent` or part of it. */
static void merge(struct splash_worker *w, struct zone *zone, struct box *parent,
		  unsigned int where, struct box *own)
{
	struct box *there;

	box_lock(w, parent);
	there = parent->child[where];
	if (!there || (there->is_leaf && !own->is_leaf)) {
		parent->child[where] = own;
		own->parent = parent;
		box_unlock(parent);
		if (there)
			merge_children(w, zone, own, there);
		return;
	}
	if (there->is_leaf && there->particles + own->particles <= LEAF_PARTICLES) {
		memcpy(&there->particle[there->particles], own->particle,
		       own->particles * sizeof(*own->particle));
		there->particles += own->particles;
		own->merged = true;
		box_unlock(parent);
		return;
	}
	if (there->is_leaf)
		divide(zone, there);
	box_unlock(parent);
	merge_children(w, zone, there, own);
}

static void merge_children(struct splash_worker *w, struct zone *zone, struct box *into,
			   struct box *own)
{
	own->merged = true;
	if (own->is_leaf)
		divide(zone, own);
	for (unsigned int i = 0; i < 4; i++)
		if (own->child[i])
			merge(w, zone, into, i, own->child[i]);
}

static uint32_t grid(double x, double corner, double size)
{
	return (uint32_t)((x - corner) / size * 0x1p32);
}

void tree_build(struct splash_worker *w, struct zone *zone)
{
	const struct square *square = &zone->domain;
	struct box *own = tree_root(zone);

	for (uint64_t i = zone->begin; i < zone->end; i++) {
		struct particle *p = sim.order[i];

		p->place[0] = grid(p->position.re, square->corner.re, square->size);
		p->place[1] = grid(p->position.im, square->corner.im, square->size);
		insert(zone, own, p);
	}
	merge_children(w, zone, sim.root, own);
}
