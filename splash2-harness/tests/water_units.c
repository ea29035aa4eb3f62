// SPDX-License-Identifier: GPL-2.0
/*
 * Water's forces are the slopes of its energies, and its predictor-corrector is of the
 * order that it should be. Prints what is not so and exits with 1.
 */
#include <math.h>
#include <stdio.h>

#include "../water/water.h"

/* Of a central difference, with the size of the second energy derivative here. */
#define STEP 1e-5
#define TOLERANCE 1e-8

static int failures;
static uint64_t random_state;

static void expect(const char *what, double got, double expected)
{
	if (fabs(got - expected) <= TOLERANCE)
		return;
	fprintf(stderr, "%s is %.12g, not %.12g\n", what, got, expected);
	failures++;
}

static double around_zero(void)
{
	return splash_random_real(&random_state) - 0.5;
}

/* A bent and stretched molecule, turned at random. */
static void random_molecule(struct molecule *m, double x, double y, double z)
{
	const double o[3] = { x, y, z };
	double first[3], second[3], length = 0, along = 0, across = 0;

	for (int d = 0; d < 3; d++) {
		first[d] = around_zero();
		second[d] = around_zero();
		length += first[d] * first[d];
	}
	for (int d = 0; d < 3; d++) {
		first[d] /= sqrt(length);
		along += first[d] * second[d];
	}
	for (int d = 0; d < 3; d++) {
		second[d] -= along * first[d];
		across += second[d] * second[d];
	}
	for (int d = 0; d < 3; d++) {
		double turned = cos(HOH_ANGLE) * first[d] +
				sin(HOH_ANGLE) * second[d] / sqrt(across);

		m->motion[0][O][d] = o[d] + 0.1 * around_zero();
		m->motion[0][H1][d] = o[d] + OH_DISTANCE * first[d] + 0.1 * around_zero();
		m->motion[0][H2][d] = o[d] + OH_DISTANCE * turned + 0.1 * around_zero();
	}
	intra_place_charge(m);
}

static double pair_energy(struct molecule m[2])
{
	struct pair pair = { 0 };

	intra_place_charge(&m[0]);
	intra_place_charge(&m[1]);
	return inter_pair(&m[0], &m[1], &pair) ? pair.energy : 0;
}

/* The slope of `energy` as one coordinate of m[which] changes. */
static double slope(double (*energy)(struct molecule m[2]), struct molecule m[2], int which,
		    int atom, int d)
{
	double *place = &m[which].motion[0][atom][d], saved = *place, low, high;

	*place = saved - STEP;
	low = energy(m);
	*place = saved + STEP;
	high = energy(m);
	*place = saved;
	return (high - low) / (2 * STEP);
}

static double first_energy(struct molecule m[2])
{
	return intra_energy(&m[0]);
}

static void test_intra(void)
{
	for (int i = 0; i < 100; i++) {
		struct molecule m[2];

		random_molecule(&m[0], 1, 2, 3);
		intra_forces(&m[0]);
		for (int atom = 0; atom < ATOMS; atom++)
			for (int d = 0; d < 3; d++)
				expect("a force within a molecule", m[0].force[atom][d],
				       -slope(first_energy, m, 0, atom, d));
	}
}

/* Near, over the fading distance, and across the box's face; beyond the cutoff nothing. */
static void test_inter(void)
{
	water.box = 20;
	water.cutoff = 6;
	for (double distance = 2.5; distance < 7; distance += 0.05) {
		struct molecule m[2];
		struct pair pair = { 0 };

		random_molecule(&m[0], 9, 10, 11);
		random_molecule(&m[1], 9 + distance, 10, 11);
		for (int atom = 0; distance < 3.5 && atom < ATOMS; atom++)
			m[1].motion[0][atom][0] -= water.box;
		pair.energy = pair_energy(m);
		inter_pair(&m[0], &m[1], &pair);
		if (distance > 6.2)
			expect("the energy beyond the cutoff", pair.energy, 0);
		for (int which = 0; which < 2; which++)
			for (int atom = 0; atom < ATOMS; atom++)
				for (int d = 0; d < 3; d++)
					expect("a force between molecules",
					       pair.force[which][atom][d],
					       -slope(pair_energy, m, which, atom, d));
	}
}

/* The virial is how the energy falls when all distances grow alike. */
static void test_virial(void)
{
	for (int i = 0; i < 100; i++) {
		struct molecule m[2], scaled[2];
		struct pair pair = { 0 };
		double energies[2];

		random_molecule(&m[0], 5, 5, 5);
		random_molecule(&m[1], 7.5 + 0.03 * i, 5, 5);
		inter_pair(&m[0], &m[1], &pair);
		for (int sign = 0; sign < 2; sign++) {
			double scale = sign ? 1 + STEP : 1 - STEP;

			for (int k = 0; k < 2; k++)
				for (int atom = 0; atom < ATOMS; atom++)
					for (int d = 0; d < 3; d++)
						scaled[k].motion[0][atom][d] =
							scale * m[k].motion[0][atom][d];
			energies[sign] = pair_energy(scaled) + intra_energy(&scaled[0]);
		}
		expect("the virial", pair.virial + intra_forces(&m[0]),
		       -(energies[1] - energies[0]) / (2 * STEP));
	}
}

/* How far an oscillation of period 2 pi is off its course after about one period. */
static double oscillation_error(uint64_t steps)
{
	struct molecule m = { 0 };
	double derivative = 1;

	water.dt = 6.4 / (double)steps;
	/* cos() and its derivatives: 1, 0, -1, 0, 1, 0, -1 */
	for (int k = 0; k <= ORDER; k++) {
		m.motion[k][O][0] = k % 2 ? 0 : k % 4 ? -derivative : derivative;
		derivative *= water.dt / (k + 1);
	}
	for (uint64_t i = 0; i < steps; i++) {
		gear_predict(&m);
		m.force[O][0] = -mass[O] * m.motion[0][O][0];
		gear_correct(&m);
	}
	return fabs(m.motion[0][O][0] - cos(6.4));
}

/* Half the step, a 64th of the error. */
static void test_order(void)
{
	double ratio = oscillation_error(100) / oscillation_error(200);

	if (ratio >= 50 && ratio <= 160)
		return;
	fprintf(stderr, "half the time step divides the error by %g\n", ratio);
	failures++;
}

int main(void)
{
	random_state = splash_random_state(1, 0);
	test_intra();
	test_inter();
	test_virial();
	test_order();
	return failures != 0;
}
