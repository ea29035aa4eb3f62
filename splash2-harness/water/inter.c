// SPDX-License-Identifier: GPL-2.0
/*
 * The forces between two molecules: O. Matsuoka, E. Clementi and M. Yoshimine, "CI study of
 * the water dimer potential surface" (J. Chemical Physics 64, 1976). Three charges to a
 * molecule, at both H and near O, act upon each other, and so do the atoms by exponential
 * functions of their distances.
 *
 * The pair's energy is faded out over the last tenth of the cutoff, by the distance of its O:
 * whole molecules, which are neutral, so that energy is conserved at any cutoff.
 */
#include <math.h>

#include "water.h"

#define QQ (0.514783 * HARTREE * BOHR)
#define A1 (1734.196 * HARTREE)		/* O - O */
#define B1 (2.726696 / BOHR)
#define A2 (1.061887 * HARTREE)		/* H - H */
#define B2 (1.460975 / BOHR)
#define A3 (2.319395 * HARTREE)		/* O - H, repelling */
#define B3 (1.567367 / BOHR)
#define A4 (0.436006 * HARTREE)		/* O - H, attracting */
#define B4 (1.181792 / BOHR)

#define FADE 0.9

/* The sites of a molecule: its atoms, and the negative charge. */
enum { CHARGE = ATOMS, SITES };

static const double charges[SITES] = { 0, 1, 1, -2 };

/* Where a site is. */
static const double *site(const struct molecule *m, int which)
{
	return which == CHARGE ? m->charge : m->motion[0][which];
}

/* The energy of two sites at a distance, and its derivative. */
static double site_energy(int a, int b, double r, double *slope)
{
	double energy = QQ * charges[a] * charges[b] / r, term;

	*slope = -energy / r;
	if (a == CHARGE || b == CHARGE)
		return energy;
	if (a == O && b == O) {
		term = A1 * exp(-B1 * r);
		*slope -= B1 * term;
		return energy + term;
	}
	if (a != O && b != O) {
		term = A2 * exp(-B2 * r);
		*slope -= B2 * term;
		return energy + term;
	}
	term = A3 * exp(-B3 * r);
	*slope -= B3 * term;
	energy += term;
	term = A4 * exp(-B4 * r);
	*slope += B4 * term;
	return energy - term;
}

/* From 1 to 0 as the distance goes from FADE x cutoff to the cutoff, twice smooth at both. */
static double fade(double r, double *slope)
{
	double begin = FADE * water.cutoff, width = water.cutoff - begin, t = (r - begin) / width;

	*slope = 0;
	if (t <= 0)
		return 1;
	*slope = -30 * t * t * (1 - t) * (1 - t) / width;
	return 1 - t * t * t * (10 - 15 * t + 6 * t * t);
}

/* The force on the negative charge acts upon the atoms that say where it is. */
static void spread_charge_force(double force[SITES][3], double atoms[ATOMS][3])
{
	for (int d = 0; d < 3; d++) {
		atoms[O][d] = force[O][d] + (1 - CHARGE_PART) * force[CHARGE][d];
		atoms[H1][d] = force[H1][d] + CHARGE_PART / 2 * force[CHARGE][d];
		atoms[H2][d] = force[H2][d] + CHARGE_PART / 2 * force[CHARGE][d];
	}
}

bool inter_pair(const struct molecule *a, const struct molecule *b, struct pair *pair)
{
	double shift[3], between[3], r = 0, faded, fade_slope, energy = 0;
	double force[2][SITES][3] = { 0 };

	/* b's nearest image. */
	for (int d = 0; d < 3; d++) {
		between[d] = b->motion[0][O][d] - a->motion[0][O][d];
		shift[d] = 0;
		if (between[d] > water.box / 2)
			shift[d] = -water.box;
		else if (between[d] < -water.box / 2)
			shift[d] = water.box;
		between[d] += shift[d];
		r += between[d] * between[d];
	}
	if (r >= water.cutoff * water.cutoff)
		return false;
	r = sqrt(r);
	faded = fade(r, &fade_slope);

	pair->virial = 0;
	for (int i = 0; i < SITES; i++)
		for (int j = 0; j < SITES; j++) {
			double delta[3], distance = 0, slope;

			/* O has no charge, and a charge does nothing else. */
			if ((i == O && j == CHARGE) || (i == CHARGE && j == O))
				continue;
			for (int d = 0; d < 3; d++) {
				delta[d] = site(b, j)[d] + shift[d] - site(a, i)[d];
				distance += delta[d] * delta[d];
			}
			distance = sqrt(distance);
			energy += site_energy(i, j, distance, &slope);
			slope *= faded / distance;
			for (int d = 0; d < 3; d++) {
				force[0][i][d] += slope * delta[d];
				force[1][j][d] -= slope * delta[d];
				pair->virial -= slope * delta[d] * delta[d];
			}
		}
	for (int d = 0; d < 3; d++) {
		double fading = energy * fade_slope * between[d] / r;

		force[0][O][d] += fading;
		force[1][O][d] -= fading;
		pair->virial -= fading * between[d];
	}
	pair->energy = faded * energy;
	spread_charge_force(force[0], pair->force[0]);
	spread_charge_force(force[1], pair->force[1]);
	return true;
}
