// SPDX-License-Identifier: GPL-2.0
#include "../fmm/fmm.c"
#include "sabotage.h"

static void lost_particle(void)
{
	nbody.last.bodies--;
}

static void potentials(void)
{
	for (uint64_t i = 0; i < sim.particles; i++)
		sim.particle[i].potential += 2e-6;
}

static void fields(void)
{
	for (uint64_t i = 0; i < sim.particles; i++)
		sim.particle[i].field = scaled(1 + 1e-4, sim.particle[i].field);
}

static void field_no_number(void)
{
	for (uint64_t i = 0; i < sim.particles; i++)
		sim.particle[i].field.im = NAN;
}

static void momentum(void)
{
	nbody.last.momentum[0] += 1e-5;
}

static void energy(void)
{
	nbody.last.kinetic += 0.01;
}

static void energy_no_number(void)
{
	nbody.last.potential = NAN;
}

const struct sabotage sabotages[] = {
	{ "lost_particle", lost_particle },
	{ "potentials", potentials },
	{ "fields", fields },
	{ "field_no_number", field_no_number },
	{ "momentum", momentum },
	{ "energy", energy },
	{ "energy_no_number", energy_no_number },
	{ 0 }
};
