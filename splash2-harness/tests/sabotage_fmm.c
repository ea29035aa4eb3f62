// SPDX-License-Identifier: GPL-2.0
#include "../fmm/fmm.c"
#include "sabotage.h"

SABOTAGE(lost_particle)
{
	nbody.last.bodies--;
}

SABOTAGE(potentials)
{
	for (uint64_t i = 0; i < sim.particles; i++)
		sim.particle[i].potential += 2e-6;
}

SABOTAGE(fields)
{
	for (uint64_t i = 0; i < sim.particles; i++)
		sim.particle[i].field = scaled(1 + 1e-4, sim.particle[i].field);
}

SABOTAGE(field_no_number)
{
	for (uint64_t i = 0; i < sim.particles; i++)
		sim.particle[i].field.im = NAN;
}

SABOTAGE(momentum)
{
	nbody.last.momentum[0] += 1e-5;
}

SABOTAGE(energy)
{
	nbody.last.kinetic += 0.01;
}

SABOTAGE(energy_no_number)
{
	nbody.last.potential = NAN;
}
