/* SPDX-License-Identifier: GPL-2.0 */
/* The guest's kernel: addresses of its symbols, and the steps of a wake-up as it executes them. */
#ifndef CACHESIM_GUEST_KERNEL_H
#define CACHESIM_GUEST_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "latencies.h"
#include "qemu_plugin_api.h"

enum kernel_symbol {
	IDLE_START,
	IDLE_END,
	PER_CPU_OFFSET,
	SCHED_CLOCK_AHEAD,
	/* Functions that take longer than their instructions (Kbuild/patches/6.12/simulator). */
	IDLE_EXIT,
	INTERRUPT_ARRIVES,
	/* Functions that are the steps of a wake-up. */
	TRY_TO_WAKE_UP,
	NEW_TASK,
	DEQUEUE,
	SWITCH,
	KERNEL_SYMBOLS
};

/* Read the kernel's System.map. Returns 0, or -1 with a message in `error` (cut to `size`). */
int guest_kernel_open(const char *system_map, char *error, size_t size);

void guest_kernel_close(void);

/* The virtual address of a symbol. */
uint64_t kernel_address(enum kernel_symbol symbol);

/* A region of interest begins. */
void guest_kernel_begin(void);

/* Have QEMU report the instruction if it begins a step of a wake-up. */
void guest_kernel_watch(struct qemu_plugin_insn *insn);

/* Is a return of the executing CPU to a program worth a call of guest_kernel_return()? */
bool guest_kernel_expects_return(void);

/* The executing CPU returns to the program with this address space. */
void guest_kernel_return(uint64_t space);

/* Add the wake-up latencies of the program with this address space to `out`. */
void guest_kernel_latencies(uint64_t program, struct latencies *out);

#endif
