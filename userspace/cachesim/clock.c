// SPDX-License-Identifier: GPL-2.0
#include "clock.h"

#include <string.h>

uint64_t clock_rate(unsigned int cpus, unsigned int cpi)
{
	/*
	 * The burner's turn is a block at least, wanted or not. It has a share for that, which must
	 * be as much: clock_least_quantum(). Rounded up, it has a little more.
	 */
	return ((uint64_t)(cpus + 1) * CACHESIM_CYCLE + cpi - 1) / cpi;
}

unsigned int clock_least_quantum(unsigned int cpi)
{
	unsigned int least = (CLOCK_BURNER_BLOCK * cpi + CACHESIM_CYCLE - 1) / CACHESIM_CYCLE;

	return least > CLOCK_MIN_QUANTUM ? least : CLOCK_MIN_QUANTUM;
}

void clock_start(struct parallel_clock *clock, const struct cachesim_machine *machine,
		 uint64_t *local, unsigned int cpus, unsigned int quantum_cycles)
{
	*clock = (struct parallel_clock) {
		.local = local,
		.cpus = cpus,
		.quantum = (uint64_t)quantum_cycles * CACHESIM_CYCLE,
		.rate = clock_rate(cpus, machine->cpi),
	};
	clock->end = clock->quantum;
	memset(local, 0, cpus * sizeof(*local));
}

static void wait_for_end(struct parallel_clock *clock, unsigned int cpu)
{
	if (clock->local[cpu] < clock->end)
		clock->local[cpu] = clock->end;
}

bool clock_executed(struct parallel_clock *clock, unsigned int cpu, unsigned int instructions,
		    enum clock_doing doing)
{
	clock->executed += instructions;
	if (doing != CLOCK_WORKS) {
		clock->unburnt++;
		if (doing == CLOCK_IDLES && clock->doing[cpu] != CLOCK_WAITS) {
			clock->doing[cpu] = CLOCK_IDLES;
			wait_for_end(clock, cpu);
		} else {
			clock->doing[cpu] = CLOCK_WAITS;
		}
		/* The guest polls with PAUSE, at which QEMU ends the turn by itself. */
		return false;
	}
	if (clock->doing[cpu] != CLOCK_WORKS) {
		clock->doing[cpu] = CLOCK_WORKS;
		/* Quanta in which nobody did anything went by without it. */
		if (clock->local[cpu] < clock->end - clock->quantum)
			clock->local[cpu] = clock->end - clock->quantum;
	}
	clock->active = true;
	if (clock->local[cpu] < clock->end)
		return false;
	clock->unburnt++;
	return true;
}

void clock_pause(struct parallel_clock *clock, unsigned int cpu)
{
	wait_for_end(clock, cpu);
}

void clock_charge(struct parallel_clock *clock, unsigned int cpu, unsigned int cycles)
{
	clock->local[cpu] += (uint64_t)cycles * CACHESIM_CYCLE;
}

void clock_correct(struct parallel_clock *clock, uint64_t executed, uint64_t ns)
{
	if (!clock->origin)
		clock->origin = ns - executed;
	clock->executed -= executed - (ns - clock->origin);
}

/* The CPU that has the least of this quantum behind it, or of those to come; idle ones wait. */
static uint64_t earliest(const struct parallel_clock *clock)
{
	uint64_t earliest = UINT64_MAX;

	for (unsigned int cpu = 0; cpu < clock->cpus; cpu++)
		if (clock->doing[cpu] != CLOCK_IDLES && clock->local[cpu] < earliest)
			earliest = clock->local[cpu];
	return earliest;
}

bool clock_burnt(struct parallel_clock *clock, unsigned int instructions)
{
	uint64_t next = earliest(clock);
	bool active = clock->active;

	clock->unburnt = 0;
	clock->executed += instructions;
	if (next < clock->end)
		return true;
	if (clock->executed * CACHESIM_CYCLE < clock->rate * clock->end)
		return false;
	clock->end += clock->quantum;
	clock->active = false;
	/*
	 * Where nobody has done anything, and nobody will in the next quantum, it can begin
	 * at once: an interrupt that changes that ends this turn in QEMU.
	 */
	return active || next < clock->end;
}
