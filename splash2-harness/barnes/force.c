// SPDX-License-Identifier: GPL-2.0
/*
 * The force walk of J. Barnes and P. Hut ("A Hierarchical O(N log N) Force-Calculation
 * Algorithm", Nature 324, 1986): a node whose size is less than theta times its distance
 * acts as its mass and second moments (as quadrupole moments in L. Hernquist, "Performance
 * Characteristics of Tree Codes", Astrophys. J. Suppl. 64, 1987); of any other the
 * children act, or in the end the bodies. A node that contains the body itself is always
 * opened: with theta above 1 / sqrt(3) its distance alone would not ensure that.
 *
 * No lock: the tree is only read, and a worker writes to bodies of its zone only.
 */
#include <math.h>

#include "barnes.h"

/* Of each cell on the way down, its children but one can be waiting. */
#define MOST_WAITING (LEVELS * 7 + 8)

/* What acts upon a body so far, and where the body is. */
struct field {
	struct vector at, acceleration;
	double potential;
	uint64_t work;
};

static void attract(struct field *f, double mass, struct vector d, double d2)
{
	double inverse = 1 / sqrt(d2 + sim.softening * sim.softening);
	double potential = mass * inverse;
	double pull = potential * inverse * inverse;

	f->potential -= potential;
	f->acceleration.x += pull * d.x;
	f->acceleration.y += pull * d.y;
	f->acceleration.z += pull * d.z;
}

/*
 * The mass, and the second moments S: with softening, (3 dSd / r^5 - trace S / r^3) / 2
 * is what a quadrupole's potential is without.
 */
static void attract_node(struct field *f, const struct node *node, struct vector d, double d2)
{
	const double *s = node->second;
	double inverse = 1 / sqrt(d2 + sim.softening * sim.softening);
	double inverse2 = inverse * inverse;
	double inverse3 = inverse2 * inverse;
	double scale = 3 * inverse2 * inverse3;
	double sx = s[0] * d.x + s[1] * d.y + s[2] * d.z;
	double sy = s[1] * d.x + s[3] * d.y + s[4] * d.z;
	double sz = s[2] * d.x + s[4] * d.y + s[5] * d.z;
	double of_mass = node->mass * inverse;
	double of_second = scale * (sx * d.x + sy * d.y + sz * d.z) / 2;
	double of_trace = inverse3 * (s[0] + s[3] + s[5]) / 2;
	double pull = (of_mass + 5 * of_second - 3 * of_trace) * inverse2;

	f->potential -= of_mass + of_second - of_trace;
	f->acceleration.x += pull * d.x - scale * sx;
	f->acceleration.y += pull * d.y - scale * sy;
	f->acceleration.z += pull * d.z - scale * sz;
	f->work++;
}

static struct vector difference(struct vector a, struct vector b)
{
	return (struct vector){ a.x - b.x, a.y - b.y, a.z - b.z };
}

static double square(struct vector d)
{
	return d.x * d.x + d.y * d.y + d.z * d.z;
}

static void attract_bodies(struct field *f, const struct leaf *leaf, const struct body *self)
{
	for (unsigned int i = 0; i < leaf->node.bodies; i++) {
		struct vector d = difference(leaf->position[i], f->at);

		if (leaf->body[i] != self)
			attract(f, leaf->mass[i], d, square(d));
	}
	f->work += leaf->node.bodies;
}

static bool is_inside(const struct body *b, const struct node *node)
{
	uint64_t differ = (b->place[0] ^ node->place[0]) | (b->place[1] ^ node->place[1]) |
			  (b->place[2] ^ node->place[2]);

	return differ >> (LEVELS - node->level) == 0;
}

void force_compute(struct body *b)
{
	struct field field = { .at = b->position };
	const struct node *waiting[MOST_WAITING];
	unsigned int count = 1;

	waiting[0] = &sim.root->node;
	while (count) {
		const struct node *node = waiting[--count];
		struct vector d = difference(node->centre, field.at);
		double d2 = square(d);

		if (d2 > node->opening && !is_inside(b, node)) {
			attract_node(&field, node, d, d2);
		} else if (node->is_leaf) {
			attract_bodies(&field, (const struct leaf *)node, b);
		} else {
			for (unsigned int i = 0; i < 8; i++) {
				const struct node *child = child_of((const struct cell *)node, i);

				if (child)
					waiting[count++] = child;
			}
		}
	}
	b->acceleration = field.acceleration;
	b->potential = field.potential;
	b->work = field.work;
}
