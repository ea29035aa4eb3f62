/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parallel clock: makes the guest's time what its caches make it.
 *
 * QEMU runs the CPUs in turn and counts every instruction of each as a nanosecond, so
 * by itself the guest's clock is the sum of the work of all CPUs, and a miss costs
 * nothing. Here each modelled CPU has a local clock: its instructions, and the stalls
 * of its misses as they happen. Time goes in quanta:
 *
 *	CPU 0    |-- runs ---------------|	a CPU's turn ends when its local clock
 *	CPU 1    |-- runs ----|=stall====|==	reaches the end of the quantum; one that
 *	CPU 2    | idle ..... |			a stall took further sits out what follows
 *	burner   |-------- no-ops -------|	until QEMU's clock has reached the end, too
 *	         begin         end of the quantum
 *
 * An idle CPU waits for the end of the quantum. A CPU that spins with PAUSE does not: what it spins
 * for may come from its own next thread. But no other CPU's turn goes beyond the local clock of a
 * CPU that spins, so that the store that ends the spinning is seen when it is made:
 *
 *	CPU 0    |-- runs --> PAUSE -> PAUSE -> PAUSE	the two go on side by side, by turns of
 *	CPU 1    |-- runs -------->------->-------> 	one PAUSE
 *
 * A turn is one block of instructions at least, also of a CPU that is there already. So where such a
 * block takes longer than a PAUSE, the PAUSE takes as long as the block: else the CPU that spins
 * would see the other one go faster than it does.
 *
 * The burner
 * (userspace/guest/burner.h) is a CPU that Linux does not know: when all others
 * have reached the end, it executes no-ops until as many instructions as a quantum
 * is worth have been executed by all together. So at each quantum's end
 *
 *	instructions of all vCPUs = clock_rate() * cycles
 *
 * and a guest that takes its TSC for one of clock_rate() * the CPU's frequency sees modelled
 * time in every clock that it has.
 *
 * Instructions are executed in blocks, so a CPU goes past the end by up to a block, and the
 * burner too; both are paid back in the next quantum.
 *
 * Within a quantum QEMU's clock is behind a CPU that computes. By that clock alone a thread is
 * charged nothing, or a quantum. So the guest's scheduler is told the difference (clock_ahead()),
 * and has the CPU's local clock.
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
 * A CPU spins from a PAUSE on for this many cycles of its local clock: longer than it takes to the
 * loop's next PAUSE, with a miss between them.
 */
#define CLOCK_SPIN 1000u

/* Quanta begun without the burner before it is taken for dead. */
#define CLOCK_BURNER_PATIENCE 1000000u

enum clock_doing {
	CLOCK_WORKS,
	CLOCK_IDLES,
	/*
	 * The guest sits out what it was charged. From the first block that is said to, up to the
	 * next that works, what looks idle is of the wait.
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
	uint64_t origin;	/* QEMU's clock at time 0; 0: it has not been read yet */
	bool active;		/* something but the idle loop was executed in this quantum */
	unsigned int unburnt;	/* blocks in a row that could only wait for the burner */
	unsigned int turn;	/* the CPU whose turn it is; `cpus` is the burner */
	uint64_t until;		/* a CPU's turn ends there; the burner's: the others' earliest time */
	uint64_t left[CACHESIM_MAX_CPUS];	/* local clocks where the CPUs' last turns ended */
	/* The longest turn of a CPU that was past its end before: in this round of turns, */
	uint64_t overrun_now;
	uint64_t overrun;	/* and in the last one */
	uint64_t spins[CACHESIM_MAX_CPUS];	/* the CPU spins until its local clock is there */
	enum clock_doing doing[CACHESIM_MAX_CPUS];
};

/*
 * What one cycle is worth on QEMU's clock: as many of a program's instructions as all CPUs, and
 * the burner, execute in it without a miss. `cpi` is in hundredths.
 */
uint64_t clock_rate(unsigned int cpus, unsigned int cpi);

/* Begin at time 0. `local`, of `cpus` entries, is set to it. */
void clock_start(struct parallel_clock *clock, const struct cachesim_machine *machine,
		 uint64_t *local, unsigned int cpus, unsigned int quantum_cycles);

/*
 * `cpu` has executed a block, which the model has added to its local clock already.
 * Returns true when its turn is over.
 */
bool clock_executed(struct parallel_clock *clock, unsigned int cpu, unsigned int instructions,
		    enum clock_doing doing);

/* The burner has executed a block. Returns true when its turn is over. */
bool clock_burnt(struct parallel_clock *clock, unsigned int instructions);

/*
 * `cpu` has executed PAUSE, which the model has added to its local clock already. QEMU ends the turn
 * by itself.
 */
void clock_pause(struct parallel_clock *clock, unsigned int cpu);

/*
 * By how many instructions, as QEMU's clock counts them, the local clock of `cpu` is ahead of QEMU's;
 * as a two's complement where it is behind.
 */
uint64_t clock_ahead(const struct parallel_clock *clock, unsigned int cpu);

/* `cpu` stands still for so many cycles, from now on. */
void clock_charge(struct parallel_clock *clock, unsigned int cpu, unsigned int cycles);

/*
 * QEMU's clock was `ns` when `executed` was what clock->executed was then. A block that a page
 * fault leaves in its midst is counted as a whole; so the count is now and then
 * held against the clock that the guest reads itself.
 */
void clock_correct(struct parallel_clock *clock, uint64_t executed, uint64_t ns);

/* Has the burner not run when only it could go on? Then time stands still for ever. */
static inline bool clock_stands(const struct parallel_clock *clock)
{
	return clock->unburnt > CLOCK_BURNER_PATIENCE;
}

#endif
