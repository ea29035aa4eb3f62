/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What QEMU calls the plugin for besides what it executes. The functions have one form here;
 * what QEMU passes differs between versions of its plugin API (QEMU_PLUGIN_VERSION).
 *
 * Not thread-safe; a process has one plugin.
 */
#ifndef CACHESIM_QEMU_CALLBACKS_H
#define CACHESIM_QEMU_CALLBACKS_H

#include "qemu_plugin_api.h"

struct qemu_callbacks {
	/* QEMU has translated a block, and is to be told what is wanted of its execution. */
	void (*translated)(struct qemu_plugin_tb *tb);
	/* QEMU has dropped all translations. */
	void (*flushed)(void);
	/* QEMU ends. */
	void (*ended)(void);
};

/* Call `begun` in the thread that runs a vCPU, before it executes; once for each vCPU. */
void qemu_callbacks_at_vcpu(qemu_plugin_id_t id, void (*begun)(void));

/* Call these from now on; a copy is kept. */
void qemu_callbacks_register(qemu_plugin_id_t id, const struct qemu_callbacks *callbacks);

/*
 * Drop all callbacks and all translations at the next boundary of blocks, then call `done`,
 * which may register anew.
 */
void qemu_callbacks_reset(qemu_plugin_id_t id, void (*done)(void));

#endif
