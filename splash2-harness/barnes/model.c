// SPDX-License-Identifier: GPL-2.0
/*
 * The initial bodies: P. C. Plummer's model as S. J. Aarseth, M. Henon and R. Wielen
 * draw it ("A Comparison of Numerical Methods for the Study of Star Cluster Dynamics",
 * Astron. Astrophys. 37, 1974), or a uniform sphere.
 */
#include <math.h>

#include "barnes.h"

/* Of the model's mass: the part farther out, some bodies of it, would rule the root's size. */
#define MASS_WITHIN 0.999

/* Both models have the virial energy -1/4; so these are their length scale and radius. */
#define PLUMMER_LENGTH (3 * M_PI / 16)
#define SPHERE_RADIUS 1.2

static struct vector on_sphere(uint64_t *random, double radius)
{
	double z = 2 * splash_random_real(random) - 1;
	double angle = 2 * M_PI * splash_random_real(random);
	double across = radius * sqrt(1 - z * z);

	return (struct vector){ across * cos(angle), across * sin(angle), radius * z };
}

/* A speed as a part of the escape speed, distributed as q^2 (1 - q^2)^3.5. */
static double random_speed(uint64_t *random)
{
	double q, height;

	do {
		q = splash_random_real(random);
		height = 0.1 * splash_random_real(random);
	} while (height > q * q * pow(1 - q * q, 3.5));
	return q;
}

static void draw_plummer(struct body *b, uint64_t *random)
{
	double within = MASS_WITHIN * (1 - splash_random_real(random));
	double radius = 1 / sqrt(pow(within, -2.0 / 3) - 1);
	double speed = M_SQRT2 * random_speed(random) / sqrt(sqrt(1 + radius * radius));

	b->position = on_sphere(random, PLUMMER_LENGTH * radius);
	b->velocity = on_sphere(random, speed / sqrt(PLUMMER_LENGTH));
}

/* One speed, in all directions, that makes the kinetic energy 1/4. */
static void draw_uniform(struct body *b, uint64_t *random)
{
	b->position = on_sphere(random, SPHERE_RADIUS * cbrt(splash_random_real(random)));
	b->velocity = on_sphere(random, M_SQRT1_2);
}

static struct vector mean(size_t offset)
{
	struct vector sum = { 0 };

	for (uint64_t i = 0; i < sim.bodies; i++) {
		const struct vector *v = (const void *)((const char *)&sim.body[i] + offset);

		sum.x += v->x / (double)sim.bodies;
		sum.y += v->y / (double)sim.bodies;
		sum.z += v->z / (double)sim.bodies;
	}
	return sum;
}

static void subtract(struct vector *v, struct vector d)
{
	v->x -= d.x;
	v->y -= d.y;
	v->z -= d.z;
}

static void draw_all(uint64_t seed, void (*draw)(struct body *b, uint64_t *random))
{
	uint64_t random = splash_random_state(seed, 0);
	struct vector position, velocity;

	for (uint64_t i = 0; i < sim.bodies; i++) {
		sim.body[i].mass = 1 / (double)sim.bodies;
		draw(&sim.body[i], &random);
	}
	position = mean(offsetof(struct body, position));
	velocity = mean(offsetof(struct body, velocity));
	for (uint64_t i = 0; i < sim.bodies; i++) {
		subtract(&sim.body[i].position, position);
		subtract(&sim.body[i].velocity, velocity);
	}
}

void model_plummer(uint64_t seed)
{
	draw_all(seed, draw_plummer);
}

void model_uniform(uint64_t seed)
{
	draw_all(seed, draw_uniform);
}
