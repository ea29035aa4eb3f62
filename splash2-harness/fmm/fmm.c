// SPDX-License-Identifier: GPL-2.0
/*
 * FMM: particles in the plane that attract each other with a logarithmic potential, over
 * some time steps, by the adaptive fast multipole method of J. Carrier, L. Greengard and
 * V. Rokhlin (SIAM J. Sci. Stat. Comput. 9, 1988), the application of S. C. Woo et al.,
 * "The SPLASH-2 Programs" (ISCA 1995). A step is nbody/driver.h's. A barrier ends each
 * phase; all that is named here has been written before it:
 *
 *	nbody/driver.c		velocity and position of the zone's particles; the bounds
 *	tree.c			the quadtree
 *	lists.c, costzones.c	the lists of its boxes, and the work that they mean
 *	costzones.c		the zones: the boxes of each worker
 *	passes.c		multipole expansions; lists; local expansions and fields
 *
 * Locks: the driver's; tree.c has locks of boxes to which several workers add. Flags say
 * that a box's parent has its lists or its local expansion, or that all children have added
 * theirs (partition.c).
 */
#include "fmm.h"

/* Speeds are about 1/2. */
#define LARGE_KICK 0.1

struct simulation sim = {
	.particles = 4096,
	.precision = 1e-6,
};

struct nbody nbody = {
	.steps = 4,
	.time_step = 0.025,
	.distribution = "plummer",
};

static uint64_t clusters = 1;

static void setup(const struct splash_options *opt)
{
	sim.particle = splash_alloc(sim.particles, sizeof(*sim.particle));
	sim.order = splash_alloc(sim.particles, sizeof(*sim.order));
	sim.zone = splash_alloc(opt->threads, sizeof(*sim.zone));
	nbody_init(opt);
	expansions_init();
	tree_init(opt->threads);

	if (nbody_is_uniform())
		model_uniform(opt->seed, (unsigned int)clusters);
	else
		model_plummer(opt->seed, (unsigned int)clusters);
	for (uint64_t i = 0; i < sim.particles; i++)
		sim.order[i] = &sim.particle[i];
	for (unsigned int id = 0; id < opt->threads; id++)
		splash_share(sim.particles, opt->threads, id, &sim.zone[id].begin,
			     &sim.zone[id].end);
}

static void begin(struct splash_worker *w)
{
	struct zone *zone = &sim.zone[w->id];

	pool_empty(&zone->boxes);
	if (w->id == 0)
		sim.root = tree_root(zone);
}

static void find_bounds(const struct splash_worker *w, struct nbody_bounds *own)
{
	const struct zone *zone = &sim.zone[w->id];

	for (uint64_t i = zone->begin; i < zone->end; i++) {
		const struct complex_number at = sim.order[i]->position;

		nbody_extend(own, 0, at.re, at.re);
		nbody_extend(own, 1, at.im, at.im);
	}
}

static struct square domain(void)
{
	const double *low = nbody.bounds.low;

	return (struct square){ .corner = { low[0], low[1] }, .size = nbody_side(2) };
}

/* The field at the particles' positions. */
static void find_forces(struct splash_worker *w)
{
	struct zone *zone = &sim.zone[w->id];

	zone->domain = domain();
	tree_build(w, zone);
	splash_barrier(w, &nbody.barrier);

	lists_build(w, zone);
	costzones_sum(w, zone);
	splash_barrier(w, &nbody.barrier);

	costzones_find(w, zone);
	nbody_forget(w);
	splash_barrier(w, &nbody.barrier);

	pass_upward(w, zone);
	splash_barrier(w, &nbody.barrier);

	pass_interactions(zone);
	splash_barrier(w, &nbody.barrier);

	pass_downward(w, zone);
	splash_barrier(w, &nbody.barrier);
}

/* The acceleration is the conjugate of the field, towards the other masses. */
static void kick(const struct splash_worker *w)
{
	const struct zone *zone = &sim.zone[w->id];

	for (uint64_t i = zone->begin; i < zone->end; i++) {
		struct particle *p = sim.order[i];

		p->velocity.re -= nbody.time_step / 2 * p->field.re;
		p->velocity.im += nbody.time_step / 2 * p->field.im;
	}
}

static void drift(const struct splash_worker *w)
{
	const struct zone *zone = &sim.zone[w->id];

	for (uint64_t i = zone->begin; i < zone->end; i++) {
		struct particle *p = sim.order[i];

		p->position = plus(p->position, scaled(nbody.time_step, p->velocity));
	}
}

/*
 * Nothing softens the attraction of two particles that fly by each other. The leapfrog
 * takes for the whole step what was at one moment of it, and is wrong about the energy of
 * the kick when that changes the velocity by much.
 */
static double encounter(const struct particle *p)
{
	double kick2 = nbody.time_step * nbody.time_step * square(p->field);

	return kick2 > LARGE_KICK * LARGE_KICK ? p->mass * kick2 : 0;
}

static void add_sums(const struct splash_worker *w, struct nbody_sums *own)
{
	const struct zone *zone = &sim.zone[w->id];

	own->bodies = zone->end - zone->begin;
	for (uint64_t i = zone->begin; i < zone->end; i++) {
		const struct particle *p = sim.order[i];

		own->kinetic += p->mass * square(p->velocity) / 2;
		own->potential += p->mass * p->potential / 2;
		own->encounters += encounter(p);
		own->momentum[0] += p->mass * p->velocity.re;
		own->momentum[1] += p->mass * p->velocity.im;
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
	{ "particles", "particles", &sim.particles, 2, UINT32_MAX },
	{ "steps", "time steps that are counted, after the first fields", &nbody.steps, 1, 1000000 },
	{ "clusters", "clusters of particles", &clusters, 1, 2 },
	{ 0 }
};

static const struct splash_real reals[] = {
	{ "precision", "of potential and field: it says how many terms expansions have",
	  &sim.precision, 1e-12, 0.1 },
	{ "dtime", "length of a time step", &nbody.time_step, 0, 0.1 },
	{ 0 }
};

static const struct splash_word words[] = {
	{ "distribution", "plummer, or uniform: discs", &nbody.distribution },
	{ 0 }
};

const struct splash_program program = {
	.name = "fmm",
	.about = "Adaptive fast multipole method in two dimensions. Any number of threads. "
		 "The paper's size: --particles=32000.",
	.numbers = numbers,
	.reals = reals,
	.words = words,
	.setup = setup,
	.warmup = nbody_warmup,
	.work = nbody_work,
	.check = check_result,
	.result = nbody_result,
};
