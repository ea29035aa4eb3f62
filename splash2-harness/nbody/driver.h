/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The course of an N-body simulation, whatever computes the forces: a leapfrog over some
 * time steps, of which each is half a kick and a drift, the forces at the new positions,
 * and the other half of the kick. The first forces are not counted.
 *
 * One lock guards the bounds and the sums over all bodies. A barrier ends finding the
 * bounds; those behind it are the method's.
 */
#ifndef NBODY_DRIVER_H
#define NBODY_DRIVER_H

#include <math.h>

#include "common/splash.h"

struct nbody_bounds {
	double low[3], high[3];		/* of two dimensions the first two */
};

struct nbody_sums {
	uint64_t bodies;
	double kinetic, potential;
	double encounters;		/* energy that close ones may have cost so far */
	double momentum[3];
};

/* Each program has one, with its defaults. */
struct nbody {
	uint64_t steps;
	double time_step;
	const char *distribution;
	struct splash_barrier barrier;
	struct nbody_bounds bounds;	/* of all bodies */
	struct nbody_sums first, last;	/* at the beginning, and after the last step */
};

extern struct nbody nbody;

/* What the program's method does, by every worker for the bodies of its zone. */
struct nbody_method {
	/* The tree of the last step is no longer used. */
	void (*begin)(struct splash_worker *w);
	void (*find_bounds)(const struct splash_worker *w, struct nbody_bounds *own);
	/*
	 * The forces at the positions, and a barrier. On its way, when all have read the
	 * bounds and a barrier follows, nbody_forget().
	 */
	void (*find_forces)(struct splash_worker *w);
	void (*kick)(const struct splash_worker *w);	/* half of one */
	void (*drift)(const struct splash_worker *w);
	void (*add)(const struct splash_worker *w, struct nbody_sums *own);
};

extern const struct nbody_method nbody_method;

void nbody_init(const struct splash_options *opt);
/* Is --distribution uniform, not plummer? Refuses any other word. */
bool nbody_is_uniform(void);

static inline void nbody_extend(struct nbody_bounds *bounds, unsigned int axis, double low,
				double high)
{
	bounds->low[axis] = fmin(bounds->low[axis], low);
	bounds->high[axis] = fmax(bounds->high[axis], high);
}

/* The side of a square or cube that is a little larger, so that no body is on its upper sides. */
double nbody_side(unsigned int dimensions);
/* The bounds, and the sums of the last step; for the next. */
void nbody_forget(const struct splash_worker *w);

/* Of struct splash_program. The result is the energy. */
void nbody_warmup(struct splash_worker *w);
void nbody_work(struct splash_worker *w);
double nbody_result(void);

/* For the checks, of all steps: the time, and how much energy and momentum have changed. */
double nbody_time(void);
double nbody_energy_change(void);
double nbody_momentum_change(void);

#endif
