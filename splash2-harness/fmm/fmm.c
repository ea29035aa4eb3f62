// SPDX-License-Identifier: GPL-2.0
/*
 * FMM: particles in the plane that attract each other with a logarithmic potential, over
 * some time steps, by the adaptive fast multipole method of J. Carrier, L. Greengard and
 * V. Rokhlin (SIAM J. Sci. Stat. Comput. 9, 1988), the application of S. C. Woo et al.,
 * "The SPLASH-2 Programs" (ISCA 1995). A step is a leapfrog: half a kick and a drift,
 * the field at the new positions, the other half of the kick. A barrier ends each phase;
 * all that is named here has been written before it:
 *
 *	advance, bounds		velocity and position of the zone's particles; the bounds
 *	tree.c			the quadtree
 *	lists.c, costzones.c	the lists of its boxes, and the work that they mean
 *	costzones.c		the zones: who does which boxes
 *	passes.c		multipole expansions; lists; local expansions and fields
 *
 * Locks: sums_lock guards the bounds and the sums over all particles; the locks of tree.c
 * guard the boxes where workers add to another's. Flags say that a box's parent has its
 * lists or its local expansion, or that all children have added theirs (partition.c).
 * The first fields are not counted.
 */
#include <float.h>
#include <string.h>

#include "fmm.h"

/* Speeds are about 1/2. */
#define LARGE_KICK 0.1

struct bounds {
	struct complex_number low, high;
};

static const struct bounds no_bounds = { { INFINITY, INFINITY }, { -INFINITY, -INFINITY } };

struct simulation sim = {
	.particles = 4096,
	.precision = 1e-6,
	.time_step = 0.025,
};

static uint64_t steps = 4;
static uint64_t clusters = 1;
static const char *distribution = "plummer";

static struct splash_barrier barrier;

static struct splash_lock sums_lock;
static struct bounds bounds;
static struct sums first, last;		/* at the beginning, and after the last step */

static void setup(const struct splash_options *opt)
{
	sim.particle = splash_alloc(sim.particles, sizeof(*sim.particle));
	sim.order = splash_alloc(sim.particles, sizeof(*sim.order));
	sim.zone = splash_alloc(opt->threads, sizeof(*sim.zone));
	splash_barrier_init(&barrier, opt->threads);
	splash_lock_init(&sums_lock);
	expansions_init();
	tree_init(opt->threads);
	bounds = no_bounds;

	if (!strcmp(distribution, "plummer"))
		model_plummer(opt->seed, (unsigned int)clusters);
	else if (!strcmp(distribution, "uniform"))
		model_uniform(opt->seed, (unsigned int)clusters);
	else
		splash_refuse("--distribution %s: must be plummer or uniform", distribution);
	for (uint64_t i = 0; i < sim.particles; i++)
		sim.order[i] = &sim.particle[i];
	for (unsigned int id = 0; id < opt->threads; id++)
		splash_share(sim.particles, opt->threads, id, &sim.zone[id].begin,
			     &sim.zone[id].end);
}

static void extend(struct bounds *b, struct complex_number low, struct complex_number high)
{
	b->low.re = fmin(b->low.re, low.re);
	b->low.im = fmin(b->low.im, low.im);
	b->high.re = fmax(b->high.re, high.re);
	b->high.im = fmax(b->high.im, high.im);
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

/* A little larger than the bounds, so that no particle lies on the upper sides. */
static struct square domain(void)
{
	struct complex_number extent = minus(bounds.high, bounds.low);

	return (struct square){
		.corner = bounds.low,
		.size = fmax(extent.re, extent.im) * (1 + 1e-9) + DBL_MIN,
	};
}

/* The field at the particles' positions. The boxes of the last step are nobody's any more. */
static void evaluate(struct splash_worker *w, struct zone *zone)
{
	pool_empty(&zone->boxes);
	if (w->id == 0)
		sim.root = tree_root(zone);
	find_bounds(w, zone);
	splash_barrier(w, &barrier);

	zone->domain = domain();
	tree_build(w, zone);
	splash_barrier(w, &barrier);

	lists_build(w, zone);
	costzones_sum(w, zone);
	splash_barrier(w, &barrier);

	costzones_find(w, zone);
	if (w->id == 0) {
		bounds = no_bounds;
		last = (struct sums){ .encounters = last.encounters };
	}
	splash_barrier(w, &barrier);

	pass_upward(w, zone);
	splash_barrier(w, &barrier);

	pass_interactions(zone);
	splash_barrier(w, &barrier);

	pass_downward(w, zone);
	splash_barrier(w, &barrier);
}

/* The acceleration is the conjugate of the field, towards the other masses. */
static void kick(const struct zone *zone)
{
	for (uint64_t i = zone->begin; i < zone->end; i++) {
		struct particle *p = sim.order[i];

		p->velocity.re -= sim.time_step / 2 * p->field.re;
		p->velocity.im += sim.time_step / 2 * p->field.im;
	}
}

static void drift(const struct zone *zone)
{
	for (uint64_t i = zone->begin; i < zone->end; i++) {
		struct particle *p = sim.order[i];

		p->position = plus(p->position, scaled(sim.time_step, p->velocity));
	}
}

/*
 * Nothing softens the attraction of two particles that fly by each other. The leapfrog
 * takes for the whole step what was at one moment of it, and is wrong about the energy of
 * the kick when that changes the velocity by much.
 */
static double encounter(const struct particle *p)
{
	double kick2 = sim.time_step * sim.time_step * square(p->field);

	return kick2 > LARGE_KICK * LARGE_KICK ? p->mass * kick2 : 0;
}

static void add_sums(struct splash_worker *w, const struct zone *zone, struct sums *total)
{
	struct sums own = { .particles = zone->end - zone->begin };

	for (uint64_t i = zone->begin; i < zone->end; i++) {
		const struct particle *p = sim.order[i];

		own.kinetic += p->mass * square(p->velocity) / 2;
		own.potential += p->mass * p->potential / 2;
		own.encounters += encounter(p);
		own.momentum = plus(own.momentum, scaled(p->mass, p->velocity));
	}
	splash_lock(w, &sums_lock);
	total->particles += own.particles;
	total->kinetic += own.kinetic;
	total->potential += own.potential;
	total->encounters += own.encounters;
	total->momentum = plus(total->momentum, own.momentum);
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
	{ "particles", "particles", &sim.particles, 2, UINT32_MAX },
	{ "steps", "time steps that are counted, after the first fields", &steps, 1, 1000000 },
	{ "clusters", "clusters of particles", &clusters, 1, 2 },
	{ 0 }
};

static const struct splash_real reals[] = {
	{ "precision", "of potential and field: it says how many terms expansions have",
	  &sim.precision, 1e-12, 0.1 },
	{ "dtime", "length of a time step", &sim.time_step, 0, 0.1 },
	{ 0 }
};

static const struct splash_word words[] = {
	{ "distribution", "plummer, or uniform: discs", &distribution },
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
	.warmup = warmup,
	.work = work,
	.check = check,
	.result = result,
};
