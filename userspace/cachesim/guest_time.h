/* SPDX-License-Identifier: GPL-2.0 */
/* The guest's time: the parallel clock (clock.h), and its meeting with QEMU and the guest. */
#ifndef CACHESIM_GUEST_TIME_H
#define CACHESIM_GUEST_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "clock.h"
#include "qemu_plugin_api.h"
#include "vcpu.h"

struct guest_time {
	struct parallel_clock clock;
	const void *control;	/* QEMU's handle */
	bool kicks;		/* turns are ended by a kick, not through `control` */
	struct qemu_cpu *kicked;	/* whose turn was ended by a kick; NULL: the last turn's was not */
	struct qemu_cpu *cpus[CACHESIM_MAX_CPUS + 1];	/* by vCPU; NULL: not looked for yet */
	bool turn_over;		/* the plugin has asked QEMU to go on with the next vCPU */
	struct {
		bool read;	/* the vCPU's registers hold the TSC when its next block begins */
		unsigned int vcpu;
		uint64_t executed;	/* clock.executed when the vCPU read the TSC */
		uint64_t checked;	/* clock.end of the quantum of the last reading */
	} tsc;
};

PLUGIN_STATE struct guest_time guest_time;

/*
 * Take control of QEMU's time; `api` is the newest version of the plugin interface that this QEMU
 * has. Returns false if another plugin has it.
 */
bool guest_time_open(int api);

/* The clock begins. */
void guest_time_begin(void);

/* QEMU goes on with another vCPU. */
void guest_time_turn_begins(void);

/* End the turn of the executing vCPU, at the end of its block. */
void guest_time_end_turn(void);

/* Have QEMU report the instruction, which reads the TSC. */
void guest_time_watch(struct qemu_plugin_insn *insn);

/* A vCPU executes its next block: has it read the TSC, so that guest_time_check_tsc() is due? */
static inline bool guest_time_has_tsc(void)
{
	return __builtin_expect(guest_time.tsc.read, 0) && vcpu.number == guest_time.tsc.vcpu;
}

/* Correct the clock by the TSC in the vCPU's registers. */
void guest_time_check_tsc(void);

/* The time of the executing CPU, in hundredths of a cycle. */
static inline uint64_t guest_time_now(void)
{
	return guest_time.clock.local[vcpu.number];
}

uint64_t guest_time_ns(void);

#endif
