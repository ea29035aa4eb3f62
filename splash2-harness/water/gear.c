// SPDX-License-Identifier: GPL-2.0
/*
 * C. W. Gear's predictor-corrector for equations of the second order, with seven values:
 * "Numerical Initial Value Problems in Ordinary Differential Equations" (1971).
 */
#include "water.h"

static const double corrector[ORDER + 1] = {
	863.0 / 6048, 665.0 / 1008, 1, 25.0 / 36, 35.0 / 144, 1.0 / 24, 1.0 / 360,
};

/*
 * For the first step, before which no derivative beyond the second is known: the
 * acceleration's change over the step is the third one, and a Taylor series has the rest.
 */
static const double first_corrector[ORDER + 1] = { 1.0 / 3, 1, 1, 1.0 / 3 };

static double scaled_acceleration(const struct molecule *m, int atom, int d)
{
	return m->force[atom][d] / mass[atom] * water.dt * water.dt / 2;
}

void gear_begin(struct molecule *m)
{
	for (int atom = 0; atom < ATOMS; atom++)
		for (int d = 0; d < 3; d++)
			m->motion[2][atom][d] = scaled_acceleration(m, atom, d);
}

/* A Taylor series: of derivatives that are scaled so, Pascal's triangle. */
void gear_predict(struct molecule *m)
{
	for (int last = 0; last < ORDER; last++)
		for (int k = ORDER - 1; k >= last; k--)
			for (int atom = 0; atom < ATOMS; atom++)
				for (int d = 0; d < 3; d++)
					m->motion[k][atom][d] += m->motion[k + 1][atom][d];
	intra_place_charge(m);
}

static void correct(struct molecule *m, const double coefficient[ORDER + 1])
{
	for (int atom = 0; atom < ATOMS; atom++)
		for (int d = 0; d < 3; d++) {
			double error = scaled_acceleration(m, atom, d) - m->motion[2][atom][d];

			for (int k = 0; k <= ORDER; k++)
				m->motion[k][atom][d] += coefficient[k] * error;
		}
	intra_place_charge(m);
}

void gear_correct(struct molecule *m)
{
	correct(m, corrector);
}

void gear_correct_first(struct molecule *m)
{
	correct(m, first_corrector);
}

double gear_kinetic_energy(const struct molecule *m)
{
	double sum = 0;

	for (int atom = 0; atom < ATOMS; atom++)
		for (int d = 0; d < 3; d++)
			sum += mass[atom] * m->motion[1][atom][d] * m->motion[1][atom][d];
	return sum / (2 * water.dt * water.dt);
}

void gear_wrap(struct molecule *m)
{
	for (int d = 0; d < 3; d++) {
		double shift = 0;

		if (m->motion[0][O][d] < 0)
			shift = water.box;
		else if (m->motion[0][O][d] >= water.box)
			shift = -water.box;
		for (int atom = 0; atom < ATOMS; atom++)
			m->motion[0][atom][d] += shift;
		m->charge[d] += shift;
	}
}
