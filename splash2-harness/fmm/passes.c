// SPDX-License-Identifier: GPL-2.0
/*
 * The fast multipole method proper, in a tree with its lists:
 *
 *	upward		leaves make multipole expansions, which are added to the parents',
 *			with the parents' locks; the flag says that all children have
 *	interactions	what acts upon a box from its lists V, X and, of a leaf, U and W
 *	downward	local expansions go to the children, which wait for the parent's
 *			flag; the leaves evaluate them
 *
 * A worker writes to boxes of its zone, except for the multipoles of parents.
 */
#include "fmm.h"

static void finish_multipole(struct box *box)
{
	if (box->is_leaf)
		particles_to_multipole(box);
}

void pass_upward(struct splash_worker *w, const struct zone *zone)
{
	partition_climb(w, &zone->partition, finish_multipole, multipole_to_parent);
}

static void sum_directly(const struct box *from, struct box *to)
{
	for (unsigned int i = 0; i < to->particles; i++) {
		struct complex_number field = { 0 };
		double potential = 0;

		for (unsigned int j = 0; j < from->particles; j++) {
			struct complex_number d = minus(to->position[i], from->position[j]);

			if (from == to && i == j)
				continue;
			potential += from->mass[j] * log_size(d);
			field = plus(field, inverse(from->mass[j], d));
		}
		to->particle[i]->potential += potential;
		to->particle[i]->field = plus(to->particle[i]->field, field);
	}
}

void pass_interactions(const struct zone *zone)
{
	for (uint32_t i = 0; i < zone->partition.count; i++) {
		struct box *box = zone->partition.box[i];

		for (uint32_t k = 0; k < box->v.count; k++)
			multipole_to_local(box->v.box[k], box);
		for (uint32_t k = 0; k < box->x.count; k++)
			particles_to_local(box->x.box[k], box);
		if (!box->is_leaf)
			continue;
		for (unsigned int k = 0; k < box->particles; k++) {
			box->particle[k]->potential = 0;
			box->particle[k]->field = (struct complex_number){ 0 };
		}
		for (uint32_t k = 0; k < box->u.count; k++)
			sum_directly(box->u.box[k], box);
		for (uint32_t k = 0; k < box->w.count; k++)
			multipole_to_particles(box->w.box[k], box);
	}
}

void pass_downward(struct splash_worker *w, const struct zone *zone)
{
	for (uint32_t i = 0; i < zone->partition.count; i++) {
		struct box *box = zone->partition.box[i];

		if (box->parent) {
			splash_flag_wait(w, &box->parent->local_done);
			local_from_parent(box);
		}
		splash_flag_set(&box->local_done);
		if (box->is_leaf)
			local_to_particles(box);
	}
}
