// SPDX-License-Identifier: GPL-2.0
/*
 * The pass up the tree: mass, centre of mass, second moments and work of each node, from
 * its children's.
 *
 * A worker does the nodes that it took while loading: first its leaves, then its cells,
 * the last taken first. Where a child is another worker's, it waits for the child's
 * flag. That ends: a worker waits for cells only that were taken later than its own.
 */
#include <math.h>

#include "barnes.h"

/* The second moments of a mass at distance d: its own, and those that the distance adds. */
static void add_second(double *second, const double *own, double mass, double dx, double dy,
		       double dz)
{
	second[0] += own[0] + mass * dx * dx;
	second[1] += own[1] + mass * dx * dy;
	second[2] += own[2] + mass * dx * dz;
	second[3] += own[3] + mass * dy * dy;
	second[4] += own[4] + mass * dy * dz;
	second[5] += own[5] + mass * dz * dz;
}

static void clear(struct node *node, const struct zone *zone)
{
	double size = ldexp(zone->domain.size, -(int)node->level) / sim.theta;

	node->opening = size * size;
	node->mass = 0;
	node->work = 0;
	node->centre = (struct vector){ 0 };
	for (unsigned int i = 0; i < 6; i++)
		node->second[i] = 0;
}

static void add_mass(struct node *node, double mass, struct vector centre, uint64_t work)
{
	node->mass += mass;
	node->work += work;
	node->centre.x += mass * centre.x;
	node->centre.y += mass * centre.y;
	node->centre.z += mass * centre.z;
}

static void divide_centre(struct node *node)
{
	node->centre.x /= node->mass;
	node->centre.y /= node->mass;
	node->centre.z /= node->mass;
}

/* Sorts the bodies by number, so that sums do not depend on the order of insertion. */
static void sort_bodies(struct leaf *leaf)
{
	for (unsigned int i = 1; i < leaf->node.bodies; i++) {
		struct body *body = leaf->body[i];
		unsigned int j = i;

		for (; j > 0 && leaf->body[j - 1] > body; j--)
			leaf->body[j] = leaf->body[j - 1];
		leaf->body[j] = body;
	}
}

static void finish_leaf(struct leaf *leaf, const struct zone *zone)
{
	static const double none[6];
	struct node *node = &leaf->node;

	clear(node, zone);
	sort_bodies(leaf);
	for (unsigned int i = 0; i < node->bodies; i++) {
		leaf->mass[i] = leaf->body[i]->mass;
		leaf->position[i] = leaf->body[i]->position;
		add_mass(node, leaf->mass[i], leaf->position[i], leaf->body[i]->work);
	}
	divide_centre(node);
	for (unsigned int i = 0; i < node->bodies; i++)
		add_second(node->second, none, leaf->mass[i],
			   leaf->position[i].x - node->centre.x,
			   leaf->position[i].y - node->centre.y,
			   leaf->position[i].z - node->centre.z);
	splash_flag_set(&node->done);
}

static void finish_cell(struct splash_worker *w, struct cell *cell, const struct zone *zone)
{
	struct node *node = &cell->node;

	clear(node, zone);
	for (unsigned int i = 0; i < 8; i++) {
		struct node *child = child_of(cell, i);

		if (!child)
			continue;
		if (child->owner != w->id)
			splash_flag_wait(w, &child->done);
		add_mass(node, child->mass, child->centre, child->work);
		node->bodies += child->bodies;
	}
	divide_centre(node);
	for (unsigned int i = 0; i < 8; i++) {
		struct node *child = child_of(cell, i);

		if (child)
			add_second(node->second, child->second, child->mass,
				   child->centre.x - node->centre.x,
				   child->centre.y - node->centre.y,
				   child->centre.z - node->centre.z);
	}
	splash_flag_set(&node->done);
}

void moments_compute(struct splash_worker *w, struct zone *zone)
{
	for (size_t i = 0; i < zone->leaves.used; i++)
		finish_leaf(pool_at(&zone->leaves, i), zone);
	for (size_t i = zone->cells.used; i > 0; i--)
		finish_cell(w, pool_at(&zone->cells, i - 1), zone);
}
