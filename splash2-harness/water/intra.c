// SPDX-License-Identifier: GPL-2.0
/*
 * The forces within a molecule: the quartic force field of R. J. Bartlett, I. Shavitt and
 * G. D. Purvis, "The quartic force field of H2O determined by many-body methods that
 * include quadruple excitation effects" (J. Chemical Physics 71, 1979). Its coordinates
 * are the stretches of both bonds, s1 and s2, and the bend b, an angle times the length
 * of a bond at rest.
 */
#include <math.h>

#include "water.h"

/* Hartree per bohr^2; terms of the third and fourth degree are divided by lengths at rest. */
#define UNIT (HARTREE / BOHR / BOHR)
#define F11 (0.512596 * UNIT)
#define F33 (0.048098 * UNIT)
#define F12 (-0.005823 * UNIT)
#define F13 (0.016452 * UNIT)
#define UNIT3 (UNIT / OH_DISTANCE)
#define F111 (-0.57191 * UNIT3)
#define F333 (-0.007636 * UNIT3)
#define F112 (-0.001867 * UNIT3)
#define F113 (-0.002047 * UNIT3)
#define F123 (-0.03083 * UNIT3)
#define F133 (-0.0094245 * UNIT3)
#define UNIT4 (UNIT3 / OH_DISTANCE)
#define F1111 (0.8431 * UNIT4)
#define F3333 (-0.00193 * UNIT4)
#define F1112 (-0.0030 * UNIT4)
#define F1122 (0.0036 * UNIT4)
#define F1113 (-0.012 * UNIT4)
#define F1123 (0.0060 * UNIT4)
#define F1133 (-0.0048 * UNIT4)
#define F1233 (0.0211 * UNIT4)
#define F1333 (0.006263 * UNIT4)

/* A molecule's shape: the bonds as unit vectors and their lengths, and the coordinates. */
struct shape {
	double unit[2][3], length[2], cosine, sine;
	double s1, s2, b;
};

static struct shape shape_of(const struct molecule *m)
{
	struct shape s = { 0 };
	double product = 0;

	for (int h = 0; h < 2; h++) {
		for (int d = 0; d < 3; d++) {
			s.unit[h][d] = m->motion[0][H1 + h][d] - m->motion[0][O][d];
			s.length[h] += s.unit[h][d] * s.unit[h][d];
		}
		s.length[h] = sqrt(s.length[h]);
		for (int d = 0; d < 3; d++)
			s.unit[h][d] /= s.length[h];
	}
	for (int d = 0; d < 3; d++)
		product += s.unit[0][d] * s.unit[1][d];
	s.cosine = product;
	s.sine = sqrt(1 - product * product);
	s.s1 = s.length[0] - OH_DISTANCE;
	s.s2 = s.length[1] - OH_DISTANCE;
	s.b = OH_DISTANCE * (acos(product) - HOH_ANGLE);
	return s;
}

void intra_place_charge(struct molecule *m)
{
	for (int d = 0; d < 3; d++)
		m->charge[d] = (1 - CHARGE_PART) * m->motion[0][O][d] +
			       CHARGE_PART / 2 * (m->motion[0][H1][d] + m->motion[0][H2][d]);
}

double intra_energy(const struct molecule *m)
{
	struct shape s = shape_of(m);
	double s1 = s.s1, s2 = s.s2, b = s.b;
	double p1 = s1 + s2, p2 = s1 * s1 + s2 * s2, p3 = s1 * s1 * s1 + s2 * s2 * s2;
	double p4 = s1 * s1 * s1 * s1 + s2 * s2 * s2 * s2, x = s1 * s2;

	return F11 / 2 * p2 + F33 / 2 * b * b + F12 * x + F13 * p1 * b +
	       F111 * p3 + F333 * b * b * b + F112 * p1 * x + F113 * p2 * b + F123 * x * b +
	       F133 * p1 * b * b +
	       F1111 * p4 + F3333 * b * b * b * b + F1112 * p2 * x + F1122 * x * x +
	       F1113 * p3 * b + F1123 * p1 * x * b + F1133 * p2 * b * b + F1233 * x * b * b +
	       F1333 * p1 * b * b * b;
}

/* The energy's derivative by s1; by s2 with both exchanged. */
static double by_stretch(double s1, double s2, double b)
{
	return F11 * s1 + F12 * s2 + F13 * b +
	       3 * F111 * s1 * s1 + F112 * (2 * s1 * s2 + s2 * s2) + 2 * F113 * s1 * b +
	       F123 * s2 * b + F133 * b * b +
	       4 * F1111 * s1 * s1 * s1 + F1112 * (3 * s1 * s1 * s2 + s2 * s2 * s2) +
	       2 * F1122 * s1 * s2 * s2 + 3 * F1113 * s1 * s1 * b +
	       F1123 * (2 * s1 * s2 + s2 * s2) * b + 2 * F1133 * s1 * b * b +
	       F1233 * s2 * b * b + F1333 * b * b * b;
}

static double by_bend(double s1, double s2, double b)
{
	double p1 = s1 + s2, p2 = s1 * s1 + s2 * s2, p3 = s1 * s1 * s1 + s2 * s2 * s2;
	double x = s1 * s2;

	return F33 * b + F13 * p1 +
	       3 * F333 * b * b + F113 * p2 + F123 * x + 2 * F133 * p1 * b +
	       4 * F3333 * b * b * b + F1113 * p3 + F1123 * p1 * x + 2 * F1133 * p2 * b +
	       2 * F1233 * x * b + 3 * F1333 * p1 * b * b;
}

double intra_forces(struct molecule *m)
{
	struct shape s = shape_of(m);
	double stretch[2] = { by_stretch(s.s1, s.s2, s.b), by_stretch(s.s2, s.s1, s.b) };
	double bend = OH_DISTANCE * by_bend(s.s1, s.s2, s.b), virial = 0;

	for (int d = 0; d < 3; d++) {
		for (int h = 0; h < 2; h++) {
			/* The angle's derivative by the place of H. */
			double turn = (s.cosine * s.unit[h][d] - s.unit[1 - h][d]) /
				      (s.length[h] * s.sine);

			m->force[H1 + h][d] = -stretch[h] * s.unit[h][d] - bend * turn;
			virial += m->force[H1 + h][d] * s.unit[h][d] * s.length[h];
		}
		m->force[O][d] = -m->force[H1][d] - m->force[H2][d];
	}
	return virial;
}
