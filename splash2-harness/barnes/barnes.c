// SPDX-License-Identifier: GPL-2.0
/*
 * Barnes: bodies in three dimensions that attract each other, over some time steps, by
 * the method of J. Barnes and P. Hut (Nature 324, 1986), the application of S. C. Woo et
 * al., "The SPLASH-2 Programs" (ISCA 1995). A step is a leapfrog: half a kick and a
 * drift, the forces at the new positions, the other half of the kick. A barrier ends
 * each phase; all that is named here has been written before it:
 *
 *	advance, bounds		velocity and position of the zone's bodies; the bounds
 *	tree.c			the octree
 *	moments.c		the moments of its nodes
 *	costzones.c		the zones: who does which bodies
 *	force.c			acceleration, potential and work of the zone's bodies
 *
 * Locks: sums_lock guards the bounds and the sums over all bodies; the locks of tree.c
 * guard the cells; the flags of moments.c say that a node is done. The first forces
 * are not counted: they tell how much work each body is.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "barnes.h"

struct bounds {
	struct vector low, high;
};

static const struct bounds no_bounds = {
	{ INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY }
};

struct simulation sim = {
	.bodies = 4096,
	.theta = 1,
	.softening = 0.05,
	.time_step = 0.025,
};

static uint64_t steps = 3;
static const char *distribution = "plummer";

static struct splash_barrier barrier;

static struct splash_lock sums_lock;
static struct bounds bounds;
static struct sums first, last;		/* at the beginning, and after the last step */

static void setup(const struct splash_options *opt)
{
	sim.body = splash_alloc(sim.bodies, sizeof(*sim.body));
	sim.order = splash_alloc(sim.bodies, sizeof(*sim.order));
	sim.zone = splash_alloc(opt->threads, sizeof(*sim.zone));
	splash_barrier_init(&barrier, opt->threads);
	splash_lock_init(&sums_lock);
	tree_init(opt->threads);
	bounds = no_bounds;

	if (!strcmp(distribution, "plummer"))
		model_plummer(opt->seed);
	else if (!strcmp(distribution, "uniform"))
		model_uniform(opt->seed);
	else
		splash_refuse("--distribution %s: must be plummer or uniform", distribution);
	for (uint64_t i = 0; i < sim.bodies; i++) {
		sim.body[i].work = 1;
		sim.order[i] = &sim.body[i];
	}
	for (unsigned int id = 0; id < opt->threads; id++)
		splash_share(sim.bodies, opt->threads, id, &sim.zone[id].begin, &sim.zone[id].end);
}

static void extend(struct bounds *b, struct vector low, struct vector high)
{
	b->low.x = fmin(b->low.x, low.x);
	b->low.y = fmin(b->low.y, low.y);
	b->low.z = fmin(b->low.z, low.z);
	b->high.x = fmax(b->high.x, high.x);
	b->high.y = fmax(b->high.y, high.y);
	b->high.z = fmax(b->high.z, high.z);
}

static void find_bounds(struct splash_worker *w, const struct zone *zone)
{
	struct bounds own = no_bounds;

	for (uint64_t i = zone->begin; i < zone->end; i++)
		extend(&own, sim.order[i]->position, sim.order[i]->position);
	splash_lock(w, &sums_lock);
	extend(&bounds, own.low, own.high);
	splash_unlock(&sums_lock);
}

/* A little larger than the bounds, so that no body lies on the upper faces. */
static struct cube domain(void)
{
	struct cube cube = { .corner = bounds.low };
	double extent = fmax(bounds.high.x - bounds.low.x,
			     fmax(bounds.high.y - bounds.low.y, bounds.high.z - bounds.low.z));

	cube.size = extent * (1 + 1e-9) + DBL_MIN;
	return cube;
}

/* The forces at the bodies' positions. The nodes of the last step are nobody's any more. */
static void evaluate(struct splash_worker *w, struct zone *zone)
{
	pool_empty(&zone->cells);
	pool_empty(&zone->leaves);
	if (w->id == 0)
		sim.root = tree_root(zone);
	find_bounds(w, zone);
	splash_barrier(w, &barrier);

	zone->domain = domain();
	tree_load(w, zone);
	splash_barrier(w, &barrier);

	moments_compute(w, zone);
	splash_barrier(w, &barrier);

	costzones_find(w, zone);
	if (w->id == 0) {
		bounds = no_bounds;
		last = (struct sums){ 0 };
	}
	splash_barrier(w, &barrier);

	for (uint64_t i = zone->begin; i < zone->end; i++)
		force_compute(sim.order[i]);
	splash_barrier(w, &barrier);
}

static void add(struct vector *v, double factor, struct vector d)
{
	v->x += factor * d.x;
	v->y += factor * d.y;
	v->z += factor * d.z;
}

static void kick(const struct zone *zone)
{
	for (uint64_t i = zone->begin; i < zone->end; i++)
		add(&sim.order[i]->velocity, sim.time_step / 2, sim.order[i]->acceleration);
}

static void drift(const struct zone *zone)
{
	for (uint64_t i = zone->begin; i < zone->end; i++)
		add(&sim.order[i]->position, sim.time_step, sim.order[i]->velocity);
}

static void add_sums(struct splash_worker *w, const struct zone *zone, struct sums *total)
{
	struct sums own = { .bodies = zone->end - zone->begin };

	for (uint64_t i = zone->begin; i < zone->end; i++) {
		const struct body *b = sim.order[i];
		struct vector v = b->velocity;
		double speed2 = v.x * v.x + v.y * v.y + v.z * v.z;

		own.kinetic += b->mass * speed2 / 2;
		own.potential += b->mass * b->potential / 2;
		add(&own.momentum, b->mass, v);
	}
	splash_lock(w, &sums_lock);
	total->bodies += own.bodies;
	total->kinetic += own.kinetic;
	total->potential += own.potential;
	add(&total->momentum, 1, own.momentum);
	splash_unlock(&sums_lock);
}

static void warmup(struct splash_worker *w)
{
	struct zone *zone = &sim.zone[w->id];

	evaluate(w, zone);
	add_sums(w, zone, &first);
}

static void work(struct splash_worker *w)
{
	struct zone *zone = &sim.zone[w->id];

	for (uint64_t step = 0; step < steps; step++) {
		kick(zone);
		drift(zone);
		evaluate(w, zone);
		kick(zone);
		add_sums(w, zone, &last);
	}
}

static void check(const struct splash_options *opt, struct verdict *verdict)
{
	check_result(opt, (double)steps * sim.time_step, &first, &last, verdict);
}

/* The energy. */
static double result(void)
{
	return last.kinetic + last.potential;
}

static const struct splash_number numbers[] = {
	{ "bodies", "bodies", &sim.bodies, 2, UINT32_MAX },
	{ "steps", "time steps that are counted, after the first forces", &steps, 1, 1000000 },
	{ 0 }
};

static const struct splash_real reals[] = {
	{ "theta", "opening angle: 0 is direct summation", &sim.theta, 0, 1 },
	{ "softening", "length below which attraction fades", &sim.softening, 0.001, 1 },
	{ "dtime", "length of a time step", &sim.time_step, 0, 0.1 },
	{ 0 }
};

static const struct splash_word words[] = {
	{ "distribution", "plummer, or uniform: a sphere", &distribution },
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
	.warmup = warmup,
	.work = work,
	.check = check,
	.result = result,
};
