// SPDX-License-Identifier: GPL-2.0
/*
 * Barnes: bodies in three dimensions that attract each other, over some time steps, by
 * the method of J. Barnes and P. Hut (Nature 324, 1986), the application of S. C. Woo et
 * al., "The SPLASH-2 Programs" (ISCA 1995). A step is nbody/driver.h's. A barrier ends each
 * phase; all that is named here has been written before it:
 *
 *	nbody/driver.c		velocity and position of the zone's bodies; the bounds
 *	tree.c			the octree
 *	moments.c		the moments of its nodes
 *	costzones.c		the zones: the bodies of each worker
 *	force.c			acceleration, potential and work of the zone's bodies
 *
 * Locks: the driver's; tree.c has locks of the cells, and moments.c a flag for each node
 * that is done. The first forces show the work of each body.
 */
#include <math.h>

#include "barnes.h"

struct simulation sim = {
	.bodies = 4096,
	.theta = 1,
	.softening = 0.05,
};

struct nbody nbody = {
	.steps = 3,
	.time_step = 0.025,
	.distribution = "plummer",
};

static void setup(const struct splash_options *opt)
{
	sim.body = splash_alloc(sim.bodies, sizeof(*sim.body));
	sim.order = splash_alloc(sim.bodies, sizeof(*sim.order));
	sim.zone = splash_alloc(opt->threads, sizeof(*sim.zone));
	nbody_init(opt);
	tree_init(opt->threads);

	if (nbody_is_uniform())
		model_uniform(opt->seed);
	else
		model_plummer(opt->seed);
	for (uint64_t i = 0; i < sim.bodies; i++) {
		sim.body[i].work = 1;
		sim.order[i] = &sim.body[i];
	}
	for (unsigned int id = 0; id < opt->threads; id++)
		splash_share(sim.bodies, opt->threads, id, &sim.zone[id].begin, &sim.zone[id].end);
}

static void begin(struct splash_worker *w)
{
	struct zone *zone = &sim.zone[w->id];

	pool_empty(&zone->cells);
	pool_empty(&zone->leaves);
	if (w->id == 0)
		sim.root = tree_root(zone);
}

static void find_bounds(const struct splash_worker *w, struct nbody_bounds *own)
{
	const struct zone *zone = &sim.zone[w->id];

	for (uint64_t i = zone->begin; i < zone->end; i++) {
		const struct vector at = sim.order[i]->position;

		nbody_extend(own, 0, at.x, at.x);
		nbody_extend(own, 1, at.y, at.y);
		nbody_extend(own, 2, at.z, at.z);
	}
}

static struct cube domain(void)
{
	const double *low = nbody.bounds.low;

	return (struct cube){ .corner = { low[0], low[1], low[2] }, .size = nbody_side(3) };
}

static void find_forces(struct splash_worker *w)
{
	struct zone *zone = &sim.zone[w->id];

	zone->domain = domain();
	tree_load(w, zone);
	splash_barrier(w, &nbody.barrier);

	moments_compute(w, zone);
	splash_barrier(w, &nbody.barrier);

	costzones_find(w, zone);
	nbody_forget(w);
	splash_barrier(w, &nbody.barrier);

	for (uint64_t i = zone->begin; i < zone->end; i++)
		force_compute(sim.order[i]);
	splash_barrier(w, &nbody.barrier);
}

static void add(struct vector *v, double factor, struct vector d)
{
	v->x += factor * d.x;
	v->y += factor * d.y;
	v->z += factor * d.z;
}

static void kick(const struct splash_worker *w)
{
	const struct zone *zone = &sim.zone[w->id];

	for (uint64_t i = zone->begin; i < zone->end; i++)
		add(&sim.order[i]->velocity, nbody.time_step / 2, sim.order[i]->acceleration);
}

static void drift(const struct splash_worker *w)
{
	const struct zone *zone = &sim.zone[w->id];

	for (uint64_t i = zone->begin; i < zone->end; i++)
		add(&sim.order[i]->position, nbody.time_step, sim.order[i]->velocity);
}

static void add_sums(const struct splash_worker *w, struct nbody_sums *own)
{
	const struct zone *zone = &sim.zone[w->id];

	own->bodies = zone->end - zone->begin;
	for (uint64_t i = zone->begin; i < zone->end; i++) {
		const struct body *b = sim.order[i];
		struct vector v = b->velocity;
		double speed2 = v.x * v.x + v.y * v.y + v.z * v.z;

		own->kinetic += b->mass * speed2 / 2;
		own->potential += b->mass * b->potential / 2;
		own->momentum[0] += b->mass * v.x;
		own->momentum[1] += b->mass * v.y;
		own->momentum[2] += b->mass * v.z;
	}
}

const struct nbody_method nbody_method = {
	.begin = begin,
	.find_bounds = find_bounds,
	.find_forces = find_forces,
	.kick = kick,
	.drift = drift,
	.add = add_sums,
};

static const struct splash_number numbers[] = {
	{ "bodies", "bodies", &sim.bodies, 2, UINT32_MAX },
	{ "steps", "time steps that are counted, after the first forces", &nbody.steps, 1, 1000000 },
	{ 0 }
};

static const struct splash_real reals[] = {
	{ "theta", "opening angle: 0 is direct summation", &sim.theta, 0, 1 },
	{ "softening", "length below which attraction fades", &sim.softening, 0.001, 1 },
	{ "dtime", "length of a time step", &nbody.time_step, 0, 0.1 },
	{ 0 }
};

static const struct splash_word words[] = {
	{ "distribution", "plummer, or uniform: a sphere", &nbody.distribution },
	{ 0 }
};

const struct splash_program program = {
	.name = "barnes",
	.about = "Barnes-Hut N-body simulation in three dimensions. Any number of threads. "
		 "The paper's size: --bodies=92000.",
	.numbers = numbers,
	.reals = reals,
	.words = words,
	.setup = setup,
	.warmup = nbody_warmup,
	.work = nbody_work,
	.check = check_result,
	.result = nbody_result,
};
