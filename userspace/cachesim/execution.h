/* SPDX-License-Identifier: GPL-2.0 */
/* Blocks and PAUSEs that the guest executes. */
#ifndef CACHESIM_EXECUTION_H
#define CACHESIM_EXECUTION_H

#include "blocks.h"
#include "qemu_plugin_api.h"

/* Have QEMU report each execution of the block, which begins with the instruction. */
void execution_watch(struct qemu_plugin_insn *first, struct block *b);

/* Have QEMU report each execution of the instruction, a PAUSE at this place of its block. */
void execution_watch_pause(struct qemu_plugin_insn *insn, size_t place);

#endif
