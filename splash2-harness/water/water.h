/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Molecular dynamics of flexible water in a periodic box: what water_nsquared and
 * water_spatial have in common. They differ in how they find pairs of near molecules,
 * and in the assignment of molecules to workers.
 *
 * The model is by G. C. Lie and E. Clementi, "Molecular-dynamics simulation of
 * liquid water with an ab initio flexible water-water interaction potential" (Physical
 * Review A 33, 1986). Units: angstrom, femtosecond, atomic mass unit; so energies are in
 * u A^2/fs^2, which is 10,000 kJ/mol.
 */
#ifndef WATER_H
#define WATER_H

#include "common/splash.h"

enum atom { O, H1, H2, ATOMS };

/* Derivatives that the predictor-corrector keeps, above the position. */
#define ORDER 6

struct molecule {
	/* [k]: the k-th derivative, times dt^k / k!. Its owner's, while threads run. */
	_Alignas(128) double motion[ORDER + 1][ATOMS][3];
	double force[ATOMS][3];
	double charge[3];		/* where the negative charge is, near O */
	struct molecule *next;		/* in its cell: water_spatial */
};

/* The numbers that the command line and the lattice make. */
struct water {
	uint64_t molecules, steps, energy_every;
	double dt, cutoff, box;
	struct molecule *molecule;
};

extern struct water water;
extern const struct splash_number water_numbers[];
extern const struct splash_real water_reals[];

/* Masses of O, H1, H2. */
extern const double mass[ATOMS];

/* A molecule at rest. */
#define OH_DISTANCE 0.9572
#define HOH_ANGLE 1.824218	/* 104.52 degrees */

/* The negative charge is on the way from O to the middle between the H, by this part of it. */
#define CHARGE_PART 0.456826	/* at rest 0.505783 bohr from O */

#define HARTREE 0.26255002	/* u A^2/fs^2 */
#define BOHR 0.529177211	/* A */
#define BOLTZMANN 8.3144626e-7	/* u A^2/fs^2/K */

/* lattice.c: the box, and in it molecules on a cubic lattice with random velocities. */
void lattice_make(uint64_t seed);

/* gear.c: the predictor-corrector. */
void gear_begin(struct molecule *m);
void gear_predict(struct molecule *m);
void gear_correct(struct molecule *m);
void gear_correct_first(struct molecule *m);
double gear_kinetic_energy(const struct molecule *m);
/* Back into the box with all its atoms, if its O has left it. */
void gear_wrap(struct molecule *m);

/* Where the negative charge is, once the atoms are where they are. */
void intra_place_charge(struct molecule *m);
/* Forces between the molecule's own atoms, with which its forces begin. Returns the virial. */
double intra_forces(struct molecule *m);
double intra_energy(const struct molecule *m);

/* What two molecules do to each other. */
struct pair {
	double energy, virial;
	double force[2][ATOMS][3];
};

/* False when they are farther apart than the cutoff. */
bool inter_pair(const struct molecule *a, const struct molecule *b, struct pair *pair);

static inline void forces_add(double to[ATOMS][3], double forces[ATOMS][3])
{
	for (int atom = 0; atom < ATOMS; atom++)
		for (int d = 0; d < 3; d++)
			to[atom][d] += forces[atom][d];
}

/*
 * Sums over all molecules. A worker adds its part under the sum's lock; a barrier later
 * worker 0 takes the sum, and another one before any part of the next sum.
 */
enum sum { SUM_INTRA_VIRIAL, SUM_INTER_VIRIAL, SUM_KINETIC, SUM_POTENTIAL, SUMS };

void sums_init(void);
void sums_add(struct splash_worker *w, enum sum which, double part);

/* By worker 0, once each of them is complete. */
void sums_take_virial(struct splash_worker *w);
void sums_take_kinetic(struct splash_worker *w);
void sums_take_potential(struct splash_worker *w);

bool sums_energy_wanted(uint64_t step);

/* The options that both programs judge alike, and the lattice. */
void water_setup(const struct splash_options *opt);
void water_check(const struct splash_options *opt, struct verdict *verdict);
double water_result(void);

#endif
