/* SPDX-License-Identifier: GPL-2.0 */
/* Blocks: instructions that are executed one after the other, and the L1I lines they lie in. */
#ifndef CACHESIM_BLOCKS_H
#define CACHESIM_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cachesim.h"
#include "qemu_plugin_api.h"
#include "simulation.h"

struct block {
	struct block *next;	/* in the list of all blocks */
	enum cachesim_mode mode;
	bool burner;		/* code of the burner, not of the guest */
	uint8_t allocator;	/* enum allocator: the function that begins with the block */
	unsigned int charge;	/* cycles that the CPU stands still before the block */
	bool locked;		/* a program's, with a locked instruction */
	bool took;		/* executed last, it took the line of a locked instruction */
	bool before_lock;	/* executed last, a block that is locked or took such a line followed */
	bool reads_tsc;		/* in the last instruction: QEMU ends a block there */
	struct code *code;	/* NULL: nothing is attributed to the block */
	unsigned int *fetch;	/* with code: for each line the first instruction in it */
	unsigned int instructions;
	unsigned int n_lines;
	uint64_t lines[];
};

/*
 * An empty block for at most `n` consecutive instructions, from `first` to `last` at most.
 * blocks_free() frees it.
 */
struct block *block_new(const struct qemu_plugin_insn *first,
			const struct qemu_plugin_insn *last, size_t n);

void block_add(struct block *b, const struct qemu_plugin_insn *insn);

/* By CPU: the program's blocks that it executed last, the last one first; or NULL; */
PLUGIN_STATE struct block *block_last[CACHESIM_MAX_CPUS][2];
/* and the physical address of its last locked access; 0: none yet. */
PLUGIN_STATE uint64_t block_locked[CACHESIM_MAX_CPUS];

/* Free all blocks: QEMU executes none of them again. */
void blocks_free(void);

#endif
