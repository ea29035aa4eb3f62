/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the fast multipole method share: particles, the quadtree of boxes,
 * and the simulation's phases. fmm.c says which barrier stands between which phases.
 */
#ifndef FMM_H
#define FMM_H

#include "common/splash.h"
#include "complex_number.h"
#include "nbody/driver.h"
#include "nbody/pool.h"

/* Particles in a leaf before it is divided. */
#define LEAF_PARTICLES 40

/* The grid of the smallest boxes that the tree can have is 2^LEVELS in each direction. */
#define LEVELS 32

/* Of an expansion, for the least --precision. */
#define MAX_TERMS 48

/* Written by the worker whose zone it is in; its lines are its own. */
struct particle {
	_Alignas(128) double mass;
	struct complex_number position, velocity;
	double potential;		/* sum of mass log |distance| */
	struct complex_number field;	/* its derivative: sum of mass / distance */
	uint32_t place[2];		/* on the finest grid */
};

/* A list of boxes. What it holds in memory it keeps. */
struct list {
	struct box **box;
	uint32_t count, capacity;
};

struct box {
	_Alignas(128) uint32_t place[2];	/* the bits above `level` count */
	uint8_t level;				/* 0: the root */
	bool is_leaf;
	bool merged;				/* its contents are in other boxes */
	unsigned int lock;			/* number of its lock */
	unsigned int particles;			/* of a leaf */
	struct box *parent, *child[4];		/* child[]: under its lock while the tree grows */
	struct particle *particle[LEAF_PARTICLES];

	/* By the worker that took it from its pool; tree.c, lists.c. */
	struct complex_number centre;
	double size;				/* its side */
	unsigned int children;
	struct list near;			/* of its size, or larger leaves, that touch it */
	struct list u, v, w, x;
	uint64_t work;
	struct splash_flag lists_done;

	/* Under its lock: its children add to these on the way up. */
	unsigned int arrived;			/* children that have added theirs */
	uint64_t tree_work, tree_particles;	/* the sums over the tree below */
	struct complex_number *multipole;	/* 0 .. terms; unit of length: size */
	struct splash_flag children_done;

	/* By the worker whose zone it is in. */
	struct complex_number *local;
	struct splash_flag local_done;
	/* Of a leaf's particles, which lie scattered in memory. */
	struct complex_number position[LEAF_PARTICLES];
	double mass[LEAF_PARTICLES];
};

/* The square of the root. */
struct square {
	struct complex_number corner;
	double size;
};

/* What one worker has: its boxes, and its zone. */
struct zone {
	_Alignas(128) struct pool boxes;
	struct square domain;
	struct list partition;		/* the boxes that it works on, large ones first */
	uint64_t begin, end;		/* the particles in them: a part of sim.order */
};

struct simulation {
	uint64_t particles;
	double precision;
	unsigned int terms;
	struct particle *particle;
	struct particle **order;	/* the zones one after another, along the tree */
	struct box *root;
	struct zone *zone;
};

extern struct simulation sim;

/* model.c: mass 1, at rest as a whole; a cluster's kinetic energy is the virial one. */
void model_plummer(uint64_t seed, unsigned int clusters);
void model_uniform(uint64_t seed, unsigned int clusters);

/* tree.c */
void tree_init(unsigned int threads);
struct box *tree_root(struct zone *zone);
void tree_build(struct splash_worker *w, struct zone *zone);
void box_lock(struct splash_worker *w, struct box *box);
void box_unlock(struct box *box);

/* The child of a box at `level` in which a place is. */
static inline unsigned int quadrant(const uint32_t *place, unsigned int level)
{
	unsigned int shift = LEVELS - 1 - level;

	return (place[0] >> shift & 1) | (place[1] >> shift & 1) << 1;
}

/* partition.c */
void list_add(struct list *list, struct box *box);
void partition_taken(struct zone *zone);
void partition_sort(struct list *partition);

/*
 * The boxes of a partition, small ones first, each after its children: finish() it, then
 * add_to_parent() with the parent's lock.
 */
void partition_climb(struct splash_worker *w, const struct list *partition,
		     void (*finish)(struct box *box), void (*add_to_parent)(const struct box *box));

/* lists.c */
void lists_build(struct splash_worker *w, struct zone *zone);

/* costzones.c */
void costzones_sum(struct splash_worker *w, const struct zone *zone);
void costzones_find(const struct splash_worker *w, struct zone *zone);

/* expansions.c */
void expansions_init(void);
void particles_to_multipole(struct box *box);
void multipole_to_parent(const struct box *box);
void multipole_to_local(const struct box *from, struct box *to);
void multipole_to_particles(const struct box *from, struct box *to);
void particles_to_local(const struct box *from, struct box *to);
void local_from_parent(struct box *box);
void local_to_particles(struct box *box);

/* passes.c */
void pass_upward(struct splash_worker *w, const struct zone *zone);
void pass_interactions(const struct zone *zone);
void pass_downward(struct splash_worker *w, const struct zone *zone);

/* check.c */
void check_result(const struct splash_options *opt, struct verdict *verdict);

#endif
