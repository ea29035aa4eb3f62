// SPDX-License-Identifier: GPL-2.0
/*
 * The initial particles: P. C. Plummer's model as seen in the plane, where the mass
 * within radius R is R^2 / (1 + R^2), or a uniform disc of radius 1; one cluster or two
 * side by side. All masses are equal, and add up to 1.
 */
#include "fmm.h"

/* Of the model's mass: the part farther out, some particles of it, would rule the root's size. */
#define MASS_WITHIN 0.999

/* From centre to centre. */
#define CLUSTER_DISTANCE 4

static struct complex_number on_circle(uint64_t *random, double radius)
{
	double angle = 2 * M_PI * splash_random_real(random);

	return (struct complex_number){ radius * cos(angle), radius * sin(angle) };
}

static struct complex_number draw_plummer(uint64_t *random)
{
	double within = MASS_WITHIN * splash_random_real(random);

	return on_circle(random, sqrt(within / (1 - within)));
}

static struct complex_number draw_uniform(uint64_t *random)
{
	return on_circle(random, sqrt(splash_random_real(random)));
}

/*
 * With a logarithmic potential the virial of n equal masses in equilibrium is half the
 * square of the whole mass, whatever its distribution: so all have the same speed.
 */
static void draw_all(uint64_t seed, unsigned int clusters,
		     struct complex_number (*draw)(uint64_t *random))
{
	uint64_t random = splash_random_state(seed, 0);
	struct complex_number position = { 0 }, velocity = { 0 };
	double mass = 1 / (double)sim.particles;

	for (uint64_t i = 0; i < sim.particles; i++) {
		struct particle *p = &sim.particle[i];
		unsigned int cluster = (unsigned int)(i * clusters / sim.particles);

		p->mass = mass;
		p->position = draw(&random);
		p->position.re += cluster * CLUSTER_DISTANCE;
		p->velocity = on_circle(&random, sqrt(0.5 / clusters));
		position = plus(position, scaled(mass, p->position));
		velocity = plus(velocity, scaled(mass, p->velocity));
	}
	for (uint64_t i = 0; i < sim.particles; i++) {
		sim.particle[i].position = minus(sim.particle[i].position, position);
		sim.particle[i].velocity = minus(sim.particle[i].velocity, velocity);
	}
}

void model_plummer(uint64_t seed, unsigned int clusters)
{
	draw_all(seed, clusters, draw_plummer);
}

void model_uniform(uint64_t seed, unsigned int clusters)
{
	draw_all(seed, clusters, draw_uniform);
}
