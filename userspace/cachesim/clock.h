/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parallel clock: makes the guest's time what its caches make it.
 *
 * QEMU runs the CPUs in turn and counts every instruction of each as a nanosecond, so
 * by itself the guest's clock is the sum of the work of all CPUs, and a miss costs
 * nothing. Here each modelled CPU has a local clock: its instructions, and the stalls
 * of its misses. Time goes in quanta:
 *
 *	CPU 0    |-- runs ---------------|	a CPU's turn ends when its local clock
 *	CPU 1    |-- runs ----|=stall====|==	reaches the end of the quantum; one that
 *	CPU 2    | idle ..... |			a stall took further sits out what follows
 *	burner   |-------- no-ops -------|	until QEMU's clock has reached the end, too
 *	         begin         end of the quantum
 *
 * An idle CPU waits for the end of the quantum. A CPU that spins with PAUSE does not: its own next
 * thread may end the spinning. But no other CPU's turn goes beyond the local clock of a CPU that
 * spins, which so sees the store that ends the spinning at the time of the store:
 *
 *	CPU 0    |-- runs --> PAUSE -> PAUSE -> PAUSE	the two go on side by side, by turns of
 *	CPU 1    |-- runs -------->------->-------> 	one PAUSE
 *
 * Locked instructions of programs happen in the order of the local clocks: the turn of a CPU that
 * comes to one ends (clock_locks()), and the other CPUs' next turns go up to its time.
 *
 * A turn is at least one block of instructions, even of a CPU that has reached its end. Where
 * such a block takes longer than a PAUSE, the PAUSE takes as long as the block: else the CPU that
 * spins would see the other CPU run faster than it does.
 *
 * The burner (userspace/guest/burner.h) is a CPU that Linux does not know. When all CPUs have
 * reached the end, it executes no-ops until all vCPUs together have executed as many instructions
 * as a quantum is worth. So at each quantum's end
 *
 *	instructions of all vCPUs = clock_rate() * cycles
 *
 * and a guest whose TSC has clock_rate() * the CPU's frequency sees modelled time in every clock.
 *
 * vCPUs execute blocks, so a CPU or the burner goes past the end by up to a block; the next quantum
 * is shorter by that.
 *
 * Within a quantum QEMU's clock is behind a CPU that computes. By that clock alone a thread would
 * be charged nothing, or a quantum. So the guest's scheduler adds the difference (clock_ahead()),
 * which makes it the CPU's local clock.
 *
 * All times are hundredths of a cycle (CACHESIM_CYCLE) unless the name says cycles.
 * Not thread-safe.
 */
#ifndef CACHESIM_CLOCK_H
#define CACHESIM_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "cachesim.h"

#define CLOCK_DEFAULT_QUANTUM 2000u	/* cycles */
#define CLOCK_MIN_QUANTUM 100u
#define CLOCK_MAX_QUANTUM 100000u

/* Instructions of the burner's longest block: RUN of userspace/guest/burner.c. */
#define CLOCK_BURNER_BLOCK 15u

/*
 * After a PAUSE a CPU counts as spinning for this many cycles of its local clock: longer than the
 * loop takes to its next PAUSE, with a miss on the way.
 */
#define CLOCK_SPIN 1000u

/* Quanta without the burner after which it counts as dead. */
#define CLOCK_BURNER_PATIENCE 1000000u

enum clock_doing {
	CLOCK_WORKS,
	CLOCK_IDLES,
	/*
	 * The guest waits out a charge. After such a block, idle blocks belong to the wait until a
	 * block works.
	 */
	CLOCK_WAITS,
};

struct parallel_clock {
	uint64_t *local;	/* clocks of the CPUs: the model's, cachesim_clocks() */
	unsigned int cpus;
	uint64_t quantum;
	uint64_t rate;		/* see clock_rate() */
	uint64_t end;		/* of this quantum */
	uint64_t executed;	/* instructions of all vCPUs: QEMU's nanoseconds */
	uint64_t origin;	/* QEMU's clock at time 0; 0: not read yet */
	bool active;		/* a CPU has left the idle loop in this quantum */
	unsigned int unburnt;	/* blocks in a row that only waited for the burner */
	unsigned int turn;	/* the CPU whose turn it is; `cpus` is the burner */
	uint64_t until;		/* end of a CPU's turn; the burner's: earliest time of all CPUs */
	uint64_t left[CACHESIM_MAX_CPUS];	/* local clocks where the CPUs' last turns ended */
	/* The longest turn that began past its end, */
	uint64_t overrun_now;	/* in this round of turns */
	uint64_t overrun;	/* in the last round of turns */
	uint64_t spins[CACHESIM_MAX_CPUS];	/* local clocks up to which CPUs spin */
	/* When the CPUs' locked instructions, for which their turns have ended, happen; 0: none. */
	uint64_t locks[CACHESIM_MAX_CPUS];
	enum clock_doing doing[CACHESIM_MAX_CPUS];
};

/*
 * The instructions of QEMU's clock in one cycle: as many as all CPUs and the burner execute of a
 * program without a miss. `cpi` is in hundredths.
 */
uint64_t clock_rate(unsigned int cpus, unsigned int cpi);

/* Begin at time 0. `local`, of `cpus` entries, is set to it. */
void clock_start(struct parallel_clock *clock, const struct cachesim_machine *machine,
		 uint64_t *local, unsigned int cpus, unsigned int quantum_cycles);

/*
 * `cpu` has executed a block, and the model has moved its local clock. Returns true at its turn's
 * end.
 */
bool clock_executed(struct parallel_clock *clock, unsigned int cpu, unsigned int instructions,
		    enum clock_doing doing);

/*
 * The same in short, where nothing but the count of instructions changes: `cpu`, which is not idle,
 * goes on with its turn. Returns false where clock_executed() is to be called.
 */
static inline bool clock_goes_on(struct parallel_clock *clock, unsigned int cpu,
				 unsigned int instructions)
{
	if (clock->turn != cpu || clock->doing[cpu] != CLOCK_WORKS || !clock->active ||
	    clock->local[cpu] >= clock->until)
		return false;
	clock->executed += instructions;
	return true;
}

/* The burner has executed a block. Returns true at its turn's end. */
bool clock_burnt(struct parallel_clock *clock, unsigned int instructions);

/* `cpu` has executed PAUSE, and the model has moved its local clock. QEMU itself ends the turn. */
void clock_pause(struct parallel_clock *clock, unsigned int cpu);

/*
 * The next block of `cpu` has a locked instruction, which happens `delay` cycles from now, when its
 * line has come. Returns true if another CPU may do something before that: the turn must end.
 */
bool clock_locks(struct parallel_clock *clock, unsigned int cpu, unsigned int delay);

/*
 * How far the local clock of `cpu` is ahead of QEMU's clock, in instructions; negative, as two's
 * complement, where it is behind.
 */
uint64_t clock_ahead(const struct parallel_clock *clock, unsigned int cpu);

/* `cpu` stands still for `cycles`, from now on. */
void clock_charge(struct parallel_clock *clock, unsigned int cpu, unsigned int cycles);

/*
 * QEMU's clock was `ns` when clock->executed was `executed`. A block that a page fault interrupts
 * is counted as a whole; so the count is corrected now and then by the clock that the guest
 * reads.
 */
void clock_correct(struct parallel_clock *clock, uint64_t executed, uint64_t ns);

/* Has the burner not run although every CPU waits for it? Then time stands still for ever. */
static inline bool clock_stands(const struct parallel_clock *clock)
{
	return clock->unburnt > CLOCK_BURNER_PATIENCE;
}

#endif
