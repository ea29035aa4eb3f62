// SPDX-License-Identifier: GPL-2.0
/*
 * Is the result right? Potential and field of a sample of particles against the sums over
 * all particles, and what the simulation conserves: particles, momentum and energy.
 */
#include <inttypes.h>

#include "fmm.h"

#define SAMPLES 256

/*
 * What --precision promises, as a part of what the masses would cause if they all had one
 * direction: of the whole mass for the potential, of the sum of mass / |distance| for the
 * field. Most masses are much farther away than the bound supposes: a thirtieth was seen.
 */
#define TOLERANCE (sim.precision + ROUNDING)

#define ROUNDING 1e-13

/*
 * The leapfrog's error, which grows with the simulated time, and with that of few
 * particles flying by each other. The unit, the square of the mass, is 1.
 */
#define ENERGY_TOLERANCE(time) (1e-3 * (time) + 1 / (double)sim.particles)

struct sum {
	double potential, scale;
	struct complex_number field;
};

static struct sum sum_directly(const struct particle *p)
{
	struct sum sum = { 0 };

	for (const struct particle *q = sim.particle; q < sim.particle + sim.particles; q++) {
		struct complex_number d = minus(p->position, q->position);

		if (q == p)
			continue;
		sum.potential += q->mass * log_size(d);
		sum.field = plus(sum.field, inverse(q->mass, d));
		sum.scale += q->mass / sqrt(square(d));
	}
	return sum;
}

/* A comparison with what is no number must fail too: hence !(a <= b). Returns the scale. */
static double check_particle(const struct particle *p, struct verdict *verdict)
{
	struct sum sum = sum_directly(p);
	double potential = fabs(p->potential - sum.potential);
	double field = sqrt(square(minus(p->field, sum.field))) / sum.scale;

	if (!(potential <= TOLERANCE))
		verdict_fail(verdict, "the potential of particle %td is wrong by %.2g, more than "
			     "%.2g", p - sim.particle, potential, TOLERANCE);
	if (!(field <= TOLERANCE))
		verdict_fail(verdict, "the field at particle %td is wrong by %.2g of its parts, "
			     "more than %.2g", p - sim.particle, field, TOLERANCE);
	return sum.scale;
}

/* The momentum may change as if the error of the fields had one direction at all times. */
void check_result(const struct splash_options *opt, struct verdict *verdict)
{
	const struct nbody_sums *first = &nbody.first, *last = &nbody.last;
	uint64_t random = splash_random_state(opt->seed, 1);
	double time = nbody_time(), momentum = nbody_momentum_change();
	double energy = nbody_energy_change();
	double energy_tolerance = ENERGY_TOLERANCE(time) + last->encounters;
	double scale = 0, momentum_tolerance;

	if (first->bodies != sim.particles || last->bodies != sim.particles)
		verdict_fail(verdict, "%" PRIu64 ", then %" PRIu64 " of %" PRIu64 " particles were "
			     "in a zone", first->bodies, last->bodies, sim.particles);
	for (unsigned int i = 0; i < SAMPLES; i++)
		scale += check_particle(&sim.particle[splash_random(&random) % sim.particles],
					verdict) / SAMPLES;
	momentum_tolerance = TOLERANCE * scale * time + ROUNDING;
	if (!(momentum <= momentum_tolerance))
		verdict_fail(verdict, "the momentum changed by %.2g, more than %.2g", momentum,
			     momentum_tolerance);
	if (!(energy <= energy_tolerance))
		verdict_fail(verdict, "the energy changed by %.2g, more than %.2g: is --dtime too "
			     "large?", energy, energy_tolerance);
}
