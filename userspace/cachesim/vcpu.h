/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which vCPU executes a callback.
 *
 * With all vCPUs in one thread, QEMU (from 10.0 on) passes callbacks the index of the vCPU that
 * *translated* the code: it takes the missing CF_PARALLEL flag to mean one vCPU and makes the index
 * a constant, but the vCPUs share translations. So the plugin asks the guest: Linux's GS base on a
 * CPU is that CPU's entry in its table __per_cpu_offset.
 *
 * That is too slow for every block. On an x86-64 host QEMU's generated code keeps the address of
 * the vCPU's state in a register, `env` here: while it stays the same, so does the vCPU, and one
 * that comes back is the same vCPU's. Now and then the guest is asked nevertheless.
 */
#ifndef VCPU_H
#define VCPU_H

#include <stdbool.h>
#include <stdint.h>

#include "simulation.h"

#ifdef __x86_64__
#define HOST_TELLS_ENV true
#else
#define HOST_TELLS_ENV false
#endif

struct vcpu {
	unsigned int number;		/* of the vCPU that executes; sim.cpus: the burner */
	uintptr_t env;			/* of that vCPU; 0: unknown */
	unsigned int until_check;	/* blocks until the guest is asked in any case */
};

PLUGIN_STATE struct vcpu vcpu;

/* Forget everything: the plugin is installed. */
void vcpu_reset(void);

/* QEMU creates a vCPU. To be called in the thread that will run it. */
void vcpu_created(void);

/*
 * Read the guest's table. To be called from a vCPU's callback, when all CPUs have been started.
 */
void vcpu_learn(void);

/* Is it necessary to call vcpu_recognise() before a block of the vCPU with this env? */
static inline bool vcpu_is_unsure(uintptr_t env)
{
	return env != vcpu.env || !--vcpu.until_check;
}

/* Find the vCPU that executes code, of the burner or not. Returns true if it is another one. */
bool vcpu_recognise(bool burner, uintptr_t env);

/* The guest's table: by CPU, the offset of its per-CPU variables. */
const uint64_t *vcpu_bases(void);

/* Is the GS base a program's: in a program, and in the kernel right before it returns to one? */
bool vcpu_has_program_state(void);

#endif
