// SPDX-License-Identifier: GPL-2.0
#include "../barnes/barnes.c"
#include "sabotage.h"

SABOTAGE(lost_body)
{
	nbody.last.bodies--;
}

SABOTAGE(forces_too_strong)
{
	for (uint64_t i = 0; i < sim.bodies; i++)
		add(&sim.body[i].acceleration, 0.02, sim.body[i].acceleration);
}

/* Of no direction in particular: they are neither too strong nor too weak as a whole. */
SABOTAGE(scattered_forces)
{
	for (uint64_t i = 0; i < sim.bodies; i++)
		sim.body[i].acceleration.x += i % 2 ? 0.05 : -0.05;
}

SABOTAGE(force_no_number)
{
	for (uint64_t i = 0; i < sim.bodies; i++)
		sim.body[i].acceleration.z = NAN;
}

SABOTAGE(potentials)
{
	for (uint64_t i = 0; i < sim.bodies; i++)
		sim.body[i].potential *= 1.01;
}

SABOTAGE(momentum)
{
	nbody.last.momentum[1] += 0.01;
}

SABOTAGE(energy)
{
	nbody.last.kinetic *= 1.01;
}

SABOTAGE(energy_no_number)
{
	nbody.last.potential = NAN;
}
