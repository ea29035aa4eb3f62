/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The events for which QEMU calls the plugin, besides what the guest executes. The functions have
 * one form here; QEMU's arguments differ between versions of its plugin API (QEMU_PLUGIN_VERSION).
 *
 * Not thread-safe; a process has one plugin.
 */
#ifndef CACHESIM_QEMU_CALLBACKS_H
#define CACHESIM_QEMU_CALLBACKS_H

#include "qemu_plugin_api.h"

struct qemu_callbacks {
	/* In the thread that runs a vCPU, before it executes; once for each vCPU. */
	void (*vcpu_created)(void);
	/* QEMU has translated a block, and takes requests for its execution. */
	void (*translated)(struct qemu_plugin_tb *tb);
	/* QEMU has dropped all translations. */
	void (*flushed)(void);
	/* QEMU ends. */
	void (*ended)(void);
};

/* Call these from now on; `callbacks` lives as long as the process. */
void qemu_callbacks_register(qemu_plugin_id_t id, const struct qemu_callbacks *callbacks);

/* Have QEMU drop all translations at the next boundary of blocks, and translate anew. */
void qemu_callbacks_reset(void);

#endif
