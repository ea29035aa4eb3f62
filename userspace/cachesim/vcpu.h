/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which of Linux's CPUs executes a callback.
 *
 * With all vCPUs in one thread, QEMU (from 10.0 on) passes callbacks
 * the index of the vCPU that *translated* the code: it takes the missing
 * CF_PARALLEL flag to mean one vCPU and makes the index a constant, but the
 * vCPUs share translations. So the guest is asked instead: Linux's GS base on a
 * CPU is that CPU's entry in its table __per_cpu_offset.
 */
#ifndef VCPU_H
#define VCPU_H

#include <stdbool.h>

#include <stdint.h>

/*
 * Read the table, at this address of the guest, of `cpus` CPUs. To be called from a vCPU's
 * callback, when all of them have been started. False if it cannot be read.
 */
bool vcpu_learn(uint64_t table, unsigned int cpus);

/* The number of the CPU that executes, or -1 when it is none of those. */
int vcpu_current(void);

/* The table, by CPU: what is added to the address of a variable that each CPU has its own of. */
const uint64_t *vcpu_bases(void);

/* Is the GS base a program's: in a program, and in the kernel right before it returns to one? */
bool vcpu_has_program_state(void);

#endif
