// SPDX-License-Identifier: GPL-2.0
#include "clock.h"

#include <string.h>

uint64_t clock_rate(unsigned int cpus, unsigned int cpi)
{
	/*
	 * The burner's turn is a block at least, wanted or not. It has a share for that, which is as
	 * much in the shortest quantum, and in a PAUSE, with the turns of the CPUs. Rounded up, it
	 * has a little more.
	 */
	_Static_assert(CLOCK_BURNER_BLOCK * CACHESIM_MOST_CPI <= CLOCK_MIN_QUANTUM * CACHESIM_CYCLE,
		       "the guest's time would run ahead of the model's");
	return ((uint64_t)(cpus + 1) * CACHESIM_CYCLE + cpi - 1) / cpi;
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
	clock->turn = cpus;
	memset(local, 0, cpus * sizeof(*local));
}

static void wait_for_end(struct parallel_clock *clock, unsigned int cpu)
{
	if (clock->local[cpu] < clock->end)
		clock->local[cpu] = clock->end;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Where the turn of `cpu` ends: with the quantum, where another CPU has a locked instruction, or
 * where another CPU spins.
 */
static uint64_t turn_end(const struct parallel_clock *clock, unsigned int cpu)
{
	uint64_t locks = UINT64_MAX, end = clock->end;

	for (unsigned int other = 0; other < clock->cpus; other++)
		if (other != cpu && clock->locks[other])
			locks = least(locks, clock->locks[other]);
	if (locks != UINT64_MAX)
		end = locks;
	for (unsigned int other = 0; other < clock->cpus; other++)
		if (other != cpu && clock->doing[other] == CLOCK_WORKS &&
		    clock->local[other] < clock->spins[other] &&
		    clock->local[other] < end)
			end = clock->local[other];
	return end;
}

/* Note what the turn that is over has overrun its end by, if it began there. */
static void begin_turn(struct parallel_clock *clock, unsigned int cpu, uint64_t until)
{
	unsigned int last = clock->turn;

	if (last < clock->cpus) {
		uint64_t took = clock->local[last] - clock->left[last];

		if (clock->doing[last] == CLOCK_WORKS && clock->left[last] >= clock->until &&
		    took > clock->overrun_now)
			clock->overrun_now = took;
		clock->left[last] = clock->local[last];
	}
	clock->turn = cpu;
	clock->until = until;
	if (cpu < clock->cpus)
		clock->locks[cpu] = 0;
}

bool clock_executed(struct parallel_clock *clock, unsigned int cpu, unsigned int instructions,
		    enum clock_doing doing)
{
	clock->executed += instructions;
	if (clock->turn != cpu)
		begin_turn(clock, cpu, turn_end(clock, cpu));
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
		/* Quanta in which no CPU worked have passed without it. */
		if (clock->local[cpu] < clock->end - clock->quantum)
			clock->local[cpu] = clock->end - clock->quantum;
	}
	clock->active = true;
	if (clock->local[cpu] < clock->until)
		return false;
	if (clock->local[cpu] >= clock->end)
		clock->unburnt++;
	return true;
}

void clock_pause(struct parallel_clock *clock, unsigned int cpu)
{
	uint64_t least = clock->left[cpu] + clock->overrun;

	if (clock->local[cpu] < least)
		clock->local[cpu] = least;
	clock->spins[cpu] = clock->local[cpu] + CLOCK_SPIN * CACHESIM_CYCLE;
}

bool clock_locks(struct parallel_clock *clock, unsigned int cpu, unsigned int delay)
{
	uint64_t time = clock->local[cpu] + (uint64_t)delay * CACHESIM_CYCLE;

	for (unsigned int other = 0; other < clock->cpus; other++) {
		uint64_t then = clock->locks[other] ? clock->locks[other] : clock->local[other];

		if (other == cpu || clock->doing[other] != CLOCK_WORKS || then >= time)
			continue;
		clock->locks[cpu] = time;
		return true;
	}
	return false;
}

uint64_t clock_ahead(const struct parallel_clock *clock, unsigned int cpu)
{
	return clock->rate * clock->local[cpu] / CACHESIM_CYCLE - clock->executed;
}

void clock_charge(struct parallel_clock *clock, unsigned int cpu, unsigned int cycles)
{
	clock->local[cpu] += (uint64_t)cycles * CACHESIM_CYCLE;
	clock->left[cpu] += (uint64_t)cycles * CACHESIM_CYCLE;
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
	bool active = clock->active;

	if (clock->turn != clock->cpus) {
		begin_turn(clock, clock->cpus, earliest(clock));
		clock->overrun = clock->overrun_now;
		clock->overrun_now = 0;
	}
	clock->unburnt = 0;
	clock->executed += instructions;
	if (clock->until < clock->end)
		return true;
	if (clock->executed * CACHESIM_CYCLE < clock->rate * clock->end)
		return false;
	clock->end += clock->quantum;
	clock->active = false;
	/*
	 * If no CPU has worked, and none will in the next quantum, that begins at once: an
	 * interrupt that changes this ends the turn in QEMU.
	 */
	return active || clock->until < clock->end;
}
