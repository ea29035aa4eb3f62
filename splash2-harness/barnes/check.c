// SPDX-License-Identifier: GPL-2.0
/*
 * Is the result right? The forces upon a sample of bodies against the sums over all
 * bodies, and what the simulation conserves: bodies, momentum and energy.
 */
#include <float.h>
#include <inttypes.h>
#include <math.h>

#include "barnes.h"

#define SAMPLES 256

/*
 * The first moments that a node leaves out are of relative size theta^3, and the moments of
 * many nodes cancel in part: the observed relative error of the sample grows as theta^4, and
 * is at most two thirds of this. A few bodies have few nodes.
 */
#define FORCE_TOLERANCE (0.04 * pow(sim.theta, 4) * (1 + 40 / (double)sim.bodies) + 1e-12)

/* All forces together are too strong or too weak by no more than this; seen: a third. */
#define BIAS_TOLERANCE (FORCE_TOLERANCE / 4)

/* The potential has no direction to be wrong in. */
#define POTENTIAL_TOLERANCE (FORCE_TOLERANCE / 10)

/*
 * As a part of kinetic plus potential energy: the leapfrog's and the forces' error, which
 * grow with the simulated time, and that of two bodies that fly close by each other.
 */
#define ENERGY_TOLERANCE(time) (2e-3 * (time) + 1 / (double)sim.bodies)

struct squares {
	double force_error, force, along_force, potential_error, potential;
};

static struct vector minus(struct vector a, struct vector b)
{
	return (struct vector){ a.x - b.x, a.y - b.y, a.z - b.z };
}

static double product(struct vector a, struct vector b)
{
	return a.x * b.x + a.y * b.y + a.z * b.z;
}

static double square(struct vector v)
{
	return product(v, v);
}

static void compare_directly(const struct body *b, struct squares *sum)
{
	struct vector force = { 0 };
	double potential = 0;

	for (const struct body *other = sim.body; other < sim.body + sim.bodies; other++) {
		struct vector d = minus(other->position, b->position);
		double distance = sqrt(square(d) + sim.softening * sim.softening);
		double pull = other->mass / (distance * distance * distance);

		if (other == b)
			continue;
		force.x += pull * d.x;
		force.y += pull * d.y;
		force.z += pull * d.z;
		potential -= other->mass / distance;
	}
	sum->force += square(force);
	sum->along_force += product(b->acceleration, force);
	sum->force_error += square(minus(b->acceleration, force));
	sum->potential += potential * potential;
	sum->potential_error += (b->potential - potential) * (b->potential - potential);
}

/*
 * The momentum may change as if the error of the forces had one direction and lasted for
 * all steps. A comparison with what is no number must fail too: hence !(a <= b).
 */
void check_result(const struct splash_options *opt, struct verdict *verdict)
{
	const struct nbody_sums *first = &nbody.first, *last = &nbody.last;
	uint64_t random = splash_random_state(opt->seed, 1);
	double time = nbody_time(), momentum = nbody_momentum_change();
	double energy = nbody_energy_change() / (last->kinetic - last->potential);
	struct squares sum = { 0 };
	double force, bias, potential, momentum_tolerance;

	for (unsigned int i = 0; i < SAMPLES; i++)
		compare_directly(&sim.body[splash_random(&random) % sim.bodies], &sum);
	force = sqrt(sum.force_error / sum.force);
	bias = fabs(sum.along_force / sum.force - 1);
	potential = sqrt(sum.potential_error / sum.potential);
	momentum_tolerance = FORCE_TOLERANCE * sqrt(sum.force / SAMPLES) * time + DBL_EPSILON;

	if (first->bodies != sim.bodies || last->bodies != sim.bodies)
		verdict_fail(verdict, "%" PRIu64 ", then %" PRIu64 " of %" PRIu64 " bodies were in "
			     "a zone", first->bodies, last->bodies, sim.bodies);
	if (!(force <= FORCE_TOLERANCE))
		verdict_fail(verdict, "the forces are wrong by %.2g of their size, more than %.2g",
			     force, FORCE_TOLERANCE);
	if (!(bias <= BIAS_TOLERANCE))
		verdict_fail(verdict, "the forces are %.2g too strong or too weak, more than %.2g",
			     bias, BIAS_TOLERANCE);
	if (!(potential <= POTENTIAL_TOLERANCE))
		verdict_fail(verdict, "the potentials are wrong by %.2g of their size, more than "
			     "%.2g", potential, POTENTIAL_TOLERANCE);
	if (!(momentum <= momentum_tolerance))
		verdict_fail(verdict, "the momentum changed by %.2g, more than %.2g", momentum,
			     momentum_tolerance);
	if (!(energy <= ENERGY_TOLERANCE(time)))
		verdict_fail(verdict, "the energy changed by %.2g of its parts, more than %.2g: is "
			     "--dtime too large for --softening?", energy, ENERGY_TOLERANCE(time));
}
