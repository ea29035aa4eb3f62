/* SPDX-License-Identifier: GPL-2.0 */
/* Loads and stores that the guest executes. */
#ifndef CACHESIM_ACCESSES_H
#define CACHESIM_ACCESSES_H

#include "blocks.h"
#include "qemu_plugin_api.h"

/* Have QEMU report each load and store of the instruction at this place of the block. */
void accesses_watch(struct qemu_plugin_insn *insn, const struct block *b, size_t place);

/* Forget the last access: the plugin is installed. */
void accesses_reset(void);

#endif
