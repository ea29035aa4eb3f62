/* SPDX-License-Identifier: GPL-2.0 */
/* What programs' system calls say about locks: hand-offs, futexes, and what becomes of locks. */
#ifndef CACHESIM_SYSTEM_CALLS_H
#define CACHESIM_SYSTEM_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocators.h"
#include "document.h"
#include "latencies.h"
#include "options.h"
#include "qemu_plugin_api.h"

/* Watch what the options ask for. Returns 0, or -1 without memory. */
int system_calls_open(const struct options *options);

void system_calls_close(void);

/* A region of interest begins, with a marker in this address space. */
void system_calls_begin(uint64_t space);

/* It ends. Fills in *locks and returns it, or returns NULL if locks are not watched. */
const struct region_locks *system_calls_end(struct region_locks *locks);

/* Have QEMU report the instruction if a program enters the kernel by it, or returns. */
void system_calls_watch(struct qemu_plugin_insn *insn);

/* With allocations: a program is about to execute code at pc, which begins this function. */
void system_calls_code(uint64_t pc, enum allocator function);

/* The address space of the program whose latencies are wanted. */
uint64_t system_calls_program(void);

/* Add the hand-off latencies of that program to `out`. */
void system_calls_latencies(struct latencies *out);

#endif
