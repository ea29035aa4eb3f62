/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which vCPU executes a callback.
 *
 * With all vCPUs in one thread, QEMU (from 10.0 on) passes callbacks
 * the index of the vCPU that *translated* the code: it takes the missing
 * CF_PARALLEL flag to mean one vCPU and makes the index a constant, but the
 * vCPUs share translations. So the guest is asked instead: Linux keeps a
 * different kernel GS base on each CPU. Which index a base belongs to is
 * learned from executions by the vCPU that translated the code, where the
 * passed index is right, with this QEMU and with one that passes the true one.
 */
#ifndef VCPU_H
#define VCPU_H

#include <stdbool.h>
#include <stdint.h>

/* The kernel GS base of the vCPU that runs now; 0 before its kernel has set one. */
uint64_t vcpu_identity(void);

/* Is the GS base a program's: in a program, and in the kernel right before it returns to one? */
bool vcpu_has_program_state(void);

/* `identity` belongs to vCPU `index`. */
void vcpu_learn(uint64_t identity, unsigned int index);

/* The index of the vCPU with `identity`, or -1 when it is not known. */
int vcpu_index(uint64_t identity);

#endif
