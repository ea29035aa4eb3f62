/* SPDX-License-Identifier: GPL-2.0 */
/* Instructions of the guest as QEMU translates them: what they do, and where they lie. */
#ifndef CACHESIM_INSTRUCTIONS_H
#define CACHESIM_INSTRUCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "qemu_plugin_api.h"

bool instruction_is_pause(const struct qemu_plugin_insn *insn);
bool instruction_reads_tsc(const struct qemu_plugin_insn *insn);

/* Programs enter the kernel by syscall; it returns to them by sysretq or iretq. */
bool instruction_enters_kernel(const struct qemu_plugin_insn *insn);
bool instruction_leaves_kernel(const struct qemu_plugin_insn *insn);

/* Does it change what a TLB may know: a control register, or a page in it? */
bool instruction_changes_pages(const struct qemu_plugin_insn *insn);

/* Does it save or restore the state of FPU and vectors? */
bool instruction_moves_state(const struct qemu_plugin_insn *insn);

/* Is it one read-modify-write for all CPUs: has it a LOCK prefix, or is it an xchg with memory? */
bool instruction_is_locked(const struct qemu_plugin_insn *insn);

/*
 * The physical address. Code outside RAM (firmware, I/O) keeps its virtual address, in a range that
 * RAM does not use: QEMU gives no physical one, and host addresses differ from run to run.
 */
uint64_t instruction_address(const struct qemu_plugin_insn *insn);

/* Forget where in the host the guest's RAM lies. */
void guest_ram_forget(void);

/* Kernel code shows where in the host the guest's RAM lies. */
void guest_ram_learn(const struct qemu_plugin_insn *insn);

/* Data of the guest's kernel, in the host; NULL until guest_ram_learn() has seen kernel code. */
void *guest_kernel_data(uint64_t vaddr);

#endif
