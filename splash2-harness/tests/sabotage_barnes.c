// SPDX-License-Identifier: GPL-2.0
#include "../barnes/barnes.c"
#include "sabotage.h"

static void lost_body(void)
{
	nbody.last.bodies--;
}

static void forces_too_strong(void)
{
	for (uint64_t i = 0; i < sim.bodies; i++)
		add(&sim.body[i].acceleration, 0.02, sim.body[i].acceleration);
}

/* Of no direction in particular: they are neither too strong nor too weak as a whole. */
static void scattered_forces(void)
{
	for (uint64_t i = 0; i < sim.bodies; i++)
		sim.body[i].acceleration.x += i % 2 ? 0.05 : -0.05;
}

static void force_no_number(void)
{
	for (uint64_t i = 0; i < sim.bodies; i++)
		sim.body[i].acceleration.z = NAN;
}

static void potentials(void)
{
	for (uint64_t i = 0; i < sim.bodies; i++)
		sim.body[i].potential *= 1.01;
}

static void momentum(void)
{
	nbody.last.momentum[1] += 0.01;
}

static void energy(void)
{
	nbody.last.kinetic *= 1.01;
}

static void energy_no_number(void)
{
	nbody.last.potential = NAN;
}

const struct sabotage sabotages[] = {
	{ "lost_body", lost_body },
	{ "forces_too_strong", forces_too_strong },
	{ "scattered_forces", scattered_forces },
	{ "force_no_number", force_no_number },
	{ "potentials", potentials },
	{ "momentum", momentum },
	{ "energy", energy },
	{ "energy_no_number", energy_no_number },
	{ 0 }
};
