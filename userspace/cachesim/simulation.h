/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state that all parts of the plugin share, and how they report errors.
 *
 * QEMU runs all vCPUs in one thread, and calls the plugin from it: there is no lock. Every variable
 * of the plugin is hidden, so that a part reads another part's state without a detour through the
 * global offset table.
 */
#ifndef CACHESIM_SIMULATION_H
#define CACHESIM_SIMULATION_H

#include "cachesim.h"
#include "options.h"

#define PLUGIN_STATE extern __attribute__((visibility("hidden")))

/* base/tools.py reports it earlier. */
#define USE_ANOTHER_QEMU "use QEMU 9.2 to 11.1, and the plugin that belongs to it"

#define GUEST_PAGE 4096u

struct simulation {
	enum {
		OUTSIDE,	/* the guest boots, and nothing is modelled */
		RUNNING,	/* the model and the clock run */
		COUNTING,	/* in a region of interest */
	} state;
	struct options options;
	struct cachesim *model;
	unsigned int cpus;	/* of the model; the vCPU of this number is the burner */
};

PLUGIN_STATE struct simulation sim;

void say(const char *message);

/* Ends QEMU with a message. */
_Noreturn void die(const char *what, const char *why);

/* Ends QEMU: a count cannot be kept. */
_Noreturn void die_without_memory(void);

#endif
