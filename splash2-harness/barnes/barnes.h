/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of Barnes-Hut share: bodies, the octree, and the simulation's phases.
 * barnes.c says which barrier stands between which phases.
 */
#ifndef BARNES_H
#define BARNES_H

#include <stdatomic.h>

#include "common/splash.h"
#include "nbody/driver.h"
#include "nbody/pool.h"

/* Bodies in a leaf before it is divided. */
#define LEAF_BODIES 10

/* The grid of the finest cells that the tree can have is 2^LEVELS in each direction. */
#define LEVELS 32

/* The locks of all cells: a cell has lock number % CELL_LOCKS. */
#define CELL_LOCKS 2048

struct vector {
	double x, y, z;
};

/* Written by the worker whose zone it is in; its lines are its own. */
struct body {
	_Alignas(128) double mass;
	struct vector position, velocity;
	struct vector acceleration;
	double potential;
	uint64_t work;			/* interactions when its acceleration was last computed */
	uint32_t place[3];		/* on the finest grid */
};

/* The beginning of a leaf and of a cell. */
struct node {
	/* The force walk reads this much of each node that it meets: 64 bytes. */
	_Alignas(128) double mass;
	struct vector centre;		/* of mass */
	double opening;			/* squared: from a nearer body, look inside */
	uint32_t place[3];		/* the bits above `level` count */
	uint8_t level;			/* 0: the root */
	bool is_leaf;
	uint64_t work;			/* of its bodies */

	double second[6];		/* moments about the centre: xx, xy, xz, yy, yz, zz */
	uint32_t bodies;
	unsigned int owner;		/* the worker that took it from its pool */
	struct splash_flag done;	/* mass, centre and so on are there */
};

/* child[] is read without a lock; it, and a leaf in it, is changed under the cell's. */
struct cell {
	struct node node;
	_Atomic(struct node *) child[8];
	uint64_t number;
};

struct leaf {
	struct node node;
	struct body *body[LEAF_BODIES];
	/* Copies, from when the leaf is done: bodies lie scattered in memory. */
	double mass[LEAF_BODIES];
	struct vector position[LEAF_BODIES];
};

/* The cube of the root. */
struct cube {
	struct vector corner;
	double size;
};

/* What one worker has: its nodes, and its zone, a part of sim.order. */
struct zone {
	_Alignas(128) struct pool cells, leaves;
	struct cube domain;
	uint64_t begin, end;
};

struct simulation {
	uint64_t bodies;
	double theta, softening;
	struct body *body;
	struct body **order;		/* the zones one after another, along the tree */
	struct cell *root;
	struct zone *zone;
};

extern struct simulation sim;

/* model.c: N-body units, G = mass = 1, energy = -1/4, at rest as a whole. */
void model_plummer(uint64_t seed);
void model_uniform(uint64_t seed);

/* tree.c */
void tree_init(unsigned int threads);
struct cell *tree_root(struct zone *zone);
void tree_load(struct splash_worker *w, struct zone *zone);

/* The child of a cell at `level` in which a place is. */
static inline unsigned int octant(const uint32_t *place, unsigned int level)
{
	unsigned int shift = LEVELS - 1 - level;

	return (place[0] >> shift & 1) | (place[1] >> shift & 1) << 1 |
	       (place[2] >> shift & 1) << 2;
}

static inline struct node *child_of(const struct cell *cell, unsigned int i)
{
	return atomic_load_explicit(&cell->child[i], memory_order_acquire);
}

/* moments.c */
void moments_compute(struct splash_worker *w, struct zone *zone);

/* costzones.c */
void costzones_find(const struct splash_worker *w, struct zone *zone);

/* force.c */
void force_compute(struct body *body);

/* check.c */
void check_result(const struct splash_options *opt, struct verdict *verdict);

#endif
