// SPDX-License-Identifier: GPL-2.0
#include <float.h>
#include <string.h>

#include "driver.h"

static const struct nbody_bounds no_bounds = {
	{ INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY }
};

static struct splash_lock sums_lock;

void nbody_init(const struct splash_options *opt)
{
	splash_barrier_init(&nbody.barrier, opt->threads);
	splash_lock_init(&sums_lock);
	nbody.bounds = no_bounds;
}

bool nbody_is_uniform(void)
{
	const bool uniform = !strcmp(nbody.distribution, "uniform");

	if (!uniform && strcmp(nbody.distribution, "plummer"))
		splash_refuse("--distribution %s: must be plummer or uniform", nbody.distribution);
	return uniform;
}

double nbody_side(unsigned int dimensions)
{
	double extent = 0;

	for (unsigned int i = 0; i < dimensions; i++)
		extent = fmax(extent, nbody.bounds.high[i] - nbody.bounds.low[i]);
	return extent * (1 + 1e-9) + DBL_MIN;
}

void nbody_forget(const struct splash_worker *w)
{
	if (w->id != 0)
		return;
	nbody.bounds = no_bounds;
	nbody.last = (struct nbody_sums){ .encounters = nbody.last.encounters };
}

static void find_bounds(struct splash_worker *w)
{
	struct nbody_bounds own = no_bounds;

	nbody_method.find_bounds(w, &own);
	splash_lock(w, &sums_lock);
	for (unsigned int i = 0; i < 3; i++)
		nbody_extend(&nbody.bounds, i, own.low[i], own.high[i]);
	splash_unlock(&sums_lock);
}

static void evaluate(struct splash_worker *w)
{
	nbody_method.begin(w);
	find_bounds(w);
	splash_barrier(w, &nbody.barrier);
	nbody_method.find_forces(w);
}

static void add_sums(struct splash_worker *w, struct nbody_sums *total)
{
	struct nbody_sums own = { 0 };

	nbody_method.add(w, &own);
	splash_lock(w, &sums_lock);
	total->bodies += own.bodies;
	total->kinetic += own.kinetic;
	total->potential += own.potential;
	total->encounters += own.encounters;
	for (unsigned int i = 0; i < 3; i++)
		total->momentum[i] += own.momentum[i];
	splash_unlock(&sums_lock);
}

void nbody_warmup(struct splash_worker *w)
{
	evaluate(w);
	add_sums(w, &nbody.first);
}

void nbody_work(struct splash_worker *w)
{
	for (uint64_t step = 0; step < nbody.steps; step++) {
		nbody_method.kick(w);
		nbody_method.drift(w);
		evaluate(w);
		nbody_method.kick(w);
		add_sums(w, &nbody.last);
	}
}

double nbody_result(void)
{
	return nbody.last.kinetic + nbody.last.potential;
}

double nbody_time(void)
{
	return (double)nbody.steps * nbody.time_step;
}

double nbody_energy_change(void)
{
	const struct nbody_sums *first = &nbody.first, *last = &nbody.last;

	return fabs(last->kinetic + last->potential - first->kinetic - first->potential);
}

double nbody_momentum_change(void)
{
	double sum = 0;

	for (unsigned int i = 0; i < 3; i++) {
		double change = nbody.last.momentum[i] - nbody.first.momentum[i];

		sum += change * change;
	}
	return sqrt(sum);
}
