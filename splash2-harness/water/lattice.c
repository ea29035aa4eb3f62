// SPDX-License-Identifier: GPL-2.0
#include <math.h>

#include "water.h"

#define DENSITY 0.9980			/* g/cm^3 */
#define GRAM_PER_CM3 0.602214076	/* u/A^3 */
#define TEMPERATURE 298.0		/* K */

const double mass[ATOMS] = { 15.99945, 1.007825, 1.007825 };

static double *velocity(struct molecule *m, int atom)
{
	return m->motion[1][atom];
}

/*
 * All the same way round: the axis through O along the diagonal of x and y, so that an H
 * is between its O and the next molecule's rather than beside another H.
 */
static void place(struct molecule *m, const double o[3])
{
	double along = OH_DISTANCE * cos(HOH_ANGLE / 2), across = OH_DISTANCE * sin(HOH_ANGLE / 2);

	for (int atom = 0; atom < ATOMS; atom++)
		for (int d = 0; d < 3; d++)
			m->motion[0][atom][d] = o[d];
	m->motion[0][H1][0] += (along + across) * M_SQRT1_2;
	m->motion[0][H1][1] += (along - across) * M_SQRT1_2;
	m->motion[0][H2][0] += (along - across) * M_SQRT1_2;
	m->motion[0][H2][1] += (along + across) * M_SQRT1_2;
	intra_place_charge(m);
}

/* So that the whole stands still and has its temperature. */
static void settle_velocities(void)
{
	double momentum[3] = { 0 }, total_mass = 0, kinetic = 0, scale;

	for (uint64_t i = 0; i < water.molecules; i++)
		for (int atom = 0; atom < ATOMS; atom++) {
			total_mass += mass[atom];
			for (int d = 0; d < 3; d++)
				momentum[d] += mass[atom] * velocity(&water.molecule[i], atom)[d];
		}
	for (uint64_t i = 0; i < water.molecules; i++) {
		for (int atom = 0; atom < ATOMS; atom++)
			for (int d = 0; d < 3; d++)
				velocity(&water.molecule[i], atom)[d] -= momentum[d] / total_mass;
		kinetic += gear_kinetic_energy(&water.molecule[i]);
	}
	scale = sqrt((9.0 * (double)water.molecules - 3) / 2 * BOLTZMANN * TEMPERATURE / kinetic);
	for (uint64_t i = 0; i < water.molecules; i++)
		for (int atom = 0; atom < ATOMS; atom++)
			for (int d = 0; d < 3; d++)
				velocity(&water.molecule[i], atom)[d] *= scale;
}

void lattice_make(uint64_t seed)
{
	uint64_t side = (uint64_t)llround(cbrt((double)water.molecules));
	double water_mass = mass[O] + mass[H1] + mass[H2], spacing;

	water.box = cbrt((double)water.molecules * water_mass / (DENSITY * GRAM_PER_CM3));
	water.molecule = splash_alloc(water.molecules, sizeof(*water.molecule));
	spacing = water.box / (double)side;
	for (uint64_t i = 0; i < water.molecules; i++) {
		struct molecule *m = &water.molecule[i];
		uint64_t state = splash_random_state(seed, i);
		double o[3] = {
			((double)(i % side) + 0.5) * spacing,
			((double)(i / side % side) + 0.5) * spacing,
			((double)(i / side / side) + 0.5) * spacing,
		};

		place(m, o);
		for (int atom = 0; atom < ATOMS; atom++)
			for (int d = 0; d < 3; d++)
				velocity(m, atom)[d] = (splash_random_real(&state) - 0.5) /
						       sqrt(mass[atom]);
	}
	settle_velocities();
}
