// SPDX-License-Identifier: GPL-2.0
/*
 * The octree, built by all workers in one tree at once: each loads the bodies of its
 * zone. A body goes down from the root to an empty place or a leaf; a full leaf becomes
 * a cell of leaves.
 *
 * Going down takes no lock. What changes below a cell, an empty place that gets a leaf, a
 * leaf that gets a body or becomes a cell, changes under that cell's lock, and is looked
 * at again once the lock is held. A cell never goes away, and is complete before it
 * is stored in its parent (release; child_of() acquires).
 *
 * The tree depends on the bodies' places only, not on the order in which they came.
 */
#include <string.h>

#include "barnes.h"

/* A worker's cells have its locks in turn; the other workers begin elsewhere. */
#define OWNER_STRIDE 61

static struct splash_lock cell_lock[CELL_LOCKS];

static void prepare_node(void *item)
{
	struct node *node = item;

	splash_flag_init(&node->done);
}

void tree_init(unsigned int threads)
{
	for (size_t i = 0; i < CELL_LOCKS; i++)
		splash_lock_init(&cell_lock[i]);
	for (unsigned int id = 0; id < threads; id++) {
		pool_init(&sim.zone[id].cells, sizeof(struct cell), prepare_node);
		pool_init(&sim.zone[id].leaves, sizeof(struct leaf), prepare_node);
	}
}

static void init_node(struct node *node, struct zone *zone, const uint32_t *place,
		      unsigned int level, bool is_leaf)
{
	splash_flag_clear(&node->done);
	memcpy(node->place, place, sizeof(node->place));
	node->level = (uint8_t)level;
	node->is_leaf = is_leaf;
	node->bodies = 0;
	node->owner = (unsigned int)(zone - sim.zone);
}

static struct cell *make_cell(struct zone *zone, const uint32_t *place, unsigned int level)
{
	struct cell *cell = pool_take(&zone->cells);

	init_node(&cell->node, zone, place, level, false);
	cell->number = zone->cells.used + (uint64_t)cell->node.owner * OWNER_STRIDE;
	for (unsigned int i = 0; i < 8; i++)
		atomic_init(&cell->child[i], NULL);
	return cell;
}

static struct leaf *make_leaf(struct zone *zone, const uint32_t *place, unsigned int level)
{
	struct leaf *leaf = pool_take(&zone->leaves);

	init_node(&leaf->node, zone, place, level, true);
	return leaf;
}

struct cell *tree_root(struct zone *zone)
{
	return make_cell(zone, (const uint32_t[3]){ 0 }, 0);
}

static void add_body(struct leaf *leaf, struct body *body)
{
	leaf->body[leaf->node.bodies++] = body;
}

/* A cell with the bodies of a full leaf. The leaf is one of its leaves afterwards. */
static struct cell *subdivide(struct zone *zone, struct leaf *full)
{
	unsigned int level = full->node.level;
	struct leaf *leaf[8] = { NULL };
	struct cell *cell;

	if (level == LEVELS)
		splash_refuse("more than %d bodies are in one place: lower --dtime or raise "
			      "--softening", LEAF_BODIES);
	cell = make_cell(zone, full->node.place, level);
	leaf[octant(full->body[0]->place, level)] = full;
	memcpy(full->node.place, full->body[0]->place, sizeof(full->node.place));
	full->node.level++;
	full->node.bodies = 0;
	for (unsigned int i = 0; i < LEAF_BODIES; i++) {
		struct body *body = full->body[i];
		unsigned int where = octant(body->place, level);

		if (!leaf[where])
			leaf[where] = make_leaf(zone, body->place, level + 1);
		add_body(leaf[where], body);
	}
	for (unsigned int i = 0; i < 8; i++)
		atomic_init(&cell->child[i], leaf[i] ? &leaf[i]->node : NULL);
	return cell;
}

/* With the cell's lock. False: the body belongs further down. */
static bool load_below(struct zone *zone, struct cell *cell, unsigned int where, struct body *body)
{
	struct node *node = atomic_load_explicit(&cell->child[where], memory_order_relaxed);
	struct leaf *leaf = (struct leaf *)node;

	if (!node) {
		leaf = make_leaf(zone, body->place, cell->node.level + 1U);
		add_body(leaf, body);
		atomic_store_explicit(&cell->child[where], &leaf->node, memory_order_release);
		return true;
	}
	if (!node->is_leaf)
		return false;
	if (node->bodies < LEAF_BODIES) {
		add_body(leaf, body);
		return true;
	}
	node = &subdivide(zone, leaf)->node;
	atomic_store_explicit(&cell->child[where], node, memory_order_release);
	return false;
}

static void load_body(struct splash_worker *w, struct zone *zone, struct body *body)
{
	struct cell *cell = sim.root;

	for (;;) {
		unsigned int where = octant(body->place, cell->node.level);
		struct node *node = child_of(cell, where);
		struct splash_lock *lock = &cell_lock[cell->number % CELL_LOCKS];
		bool loaded;

		if (node && !node->is_leaf) {
			cell = (struct cell *)node;
			continue;
		}
		splash_lock(w, lock);
		loaded = load_below(zone, cell, where, body);
		splash_unlock(lock);
		if (loaded)
			return;
	}
}

static uint32_t grid(double x, double corner, double size)
{
	return (uint32_t)((x - corner) / size * 0x1p32);
}

void tree_load(struct splash_worker *w, struct zone *zone)
{
	const struct cube *cube = &zone->domain;

	for (uint64_t i = zone->begin; i < zone->end; i++) {
		struct body *body = sim.order[i];

		body->place[0] = grid(body->position.x, cube->corner.x, cube->size);
		body->place[1] = grid(body->position.y, cube->corner.y, cube->size);
		body->place[2] = grid(body->position.z, cube->corner.z, cube->size);
		load_body(w, zone, body);
	}
}
