/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which instructions the counts come from, if the options ask for it: blocks of code and the
 * attribution (attribution.h), and the allocating functions that blocks begin (allocators.h).
 */
#ifndef CACHESIM_ATTRIBUTING_H
#define CACHESIM_ATTRIBUTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocators.h"
#include "attribution.h"
#include "qemu_plugin_api.h"
#include "simulation.h"

struct block;

struct attributing {
	struct attribution *attribution;	/* NULL: not wanted */
	struct allocators *allocators;		/* NULL: not wanted */
	uint64_t spaces[CACHESIM_MAX_CPUS];	/* of the programs that run; 0: unknown */
};

PLUGIN_STATE struct attributing attributing;

/* Do what sim.options ask for. Returns 0, or -1 with a message in `error` (cut to `size`). */
int attributing_open(char *error, size_t size);

void attributing_close(void);

/* A region of interest begins. */
void attributing_begin(void);

/* Code for a block of at most `n` instructions; NULL: nothing is attributed to it. */
struct code *attributing_code(enum cachesim_mode mode, size_t n);

/* The allocating function that begins with the instruction. */
enum allocator attributing_allocator(const struct qemu_plugin_insn *first);

/* The model executes the block, and its counts go to the block's instructions. */
void attributing_execute(const struct block *b);

/* The instruction at this place of the current block takes `cycles` besides its CPI and misses. */
void attributing_spend(unsigned int cycles, size_t place);

/* The model has counted an access of that instruction, which lies in one page. */
static inline void attributing_access(unsigned int cpu, size_t place, uint64_t vaddr,
				      uint64_t physical, unsigned int size, bool store)
{
	if (sim.state == COUNTING && attribution_access(attributing.attribution, cpu, place, vaddr,
							physical, size, store))
		die_without_memory();
}

#endif
