// SPDX-License-Identifier: GPL-2.0
/*
 * The QEMU plugin: drives the model and the clock with what a guest executes. This file installs
 * it.
 *
 *	QEMU --> translation.c --> execution.c		blocks of code: the model, the clock
 *	                       --> accesses.c		loads and stores: the model
 *	                       --> system_calls.c	locks
 *	                       --> guest_kernel.c	wake-ups
 *	                       --> region.c		markers: the state, the documents
 *
 * Until the guest's init marks where the clock begins, translation looks for markers only, so the
 * guest boots and starts its CPUs at its own speed. From there on the model runs to the guest's
 * end, so that a region of interest begins in a state that the clock has made. The marker asks
 * QEMU to drop all translations, which happens at the next boundary of blocks.
 *
 * QEMU must run all vCPUs in one thread (-accel tcg,thread=single): there is no lock here, and no
 * other mode is deterministic.
 */
#include <stdio.h>
#include <string.h>

#include "accesses.h"
#include "attributing.h"
#include "blocks.h"
#include "guest_kernel.h"
#include "guest_time.h"
#include "instructions.h"
#include "pages.h"
#include "qemu_callbacks.h"
#include "region.h"
#include "simulation.h"
#include "system_calls.h"
#include "translation.h"
#include "vcpu.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static void free_all(void)
{
	blocks_free();
	system_calls_close();
	guest_kernel_close();
	attributing_close();
	cachesim_free(sim.model);
	sim.model = NULL;
	region_close();
}

static void on_qemu_exit(void)
{
	if (sim.state == COUNTING)
		say("QEMU ends inside a region of interest: its document is not written");
	free_all();
}

static int check_qemu(const qemu_info_t *info, char *error, size_t size)
{
	if (info->version.cur < QEMU_PLUGIN_VERSION || info->version.min > QEMU_PLUGIN_VERSION) {
		snprintf(error, size, "built for version %d of QEMU's plugin API, but this QEMU has "
			 "%d to %d: " USE_ANOTHER_QEMU, QEMU_PLUGIN_VERSION, info->version.min,
			 info->version.cur);
		return -1;
	}
	if (!info->system_emulation || strcmp(info->target_name, "x86_64")) {
		snprintf(error, size, "works in qemu-system-x86_64 only, not in this %s%s",
			 info->target_name, info->system_emulation ? "" : " user emulation");
		return -1;
	}
	if (info->system.smp_vcpus < 2 || info->system.smp_vcpus > (int)CACHESIM_MAX_CPUS + 1) {
		snprintf(error, size, "%d vCPUs: give QEMU one more than the guest's CPUs, which are "
			 "1 to %u: -smp 2 to -smp %u", info->system.smp_vcpus, CACHESIM_MAX_CPUS,
			 CACHESIM_MAX_CPUS + 1);
		return -1;
	}
	if (!qemu_plugin_request_time_control || !qemu_plugin_update_ns) {
		snprintf(error, size, "this QEMU gives plugins no control of time: "
			 USE_ANOTHER_QEMU);
		return -1;
	}
	return 0;
}

static int make_model(char *error, size_t size)
{
	const char *why;

	sim.model = cachesim_new(&sim.options.machine, sim.cpus, &why);
	if (sim.model && sim.options.node_memory)
		why = cachesim_set_node_memory(sim.model, sim.options.node_memory);
	if (!why)
		return 0;
	snprintf(error, size, "machine %s with %u CPUs: %s", sim.options.machine.name, sim.cpus,
		 why);
	return -1;
}

/* If it fails, the caller frees what it has made. */
static int start(const qemu_info_t *info, int argc, char **argv, char *error, size_t size)
{
	memset(&sim, 0, sizeof(sim));
	vcpu_reset();
	accesses_reset();
	pages_reset();
	guest_ram_forget();
	if (check_qemu(info, error, size) ||
	    options_parse(&sim.options, argc, argv, error, size) ||
	    guest_kernel_open(sim.options.system_map, error, size))
		return -1;
	sim.cpus = info->system.smp_vcpus - 1;
	if (make_model(error, size))
		return -1;
	if (!guest_time_open(info->version.cur)) {
		snprintf(error, size, "another plugin controls the time: leave it out");
		return -1;
	}
	if (system_calls_open(&sim.options)) {
		snprintf(error, size, "out of memory");
		return -1;
	}
	/* The files come last: a plugin that fails leaves no empty one. */
	return attributing_open(error, size) || region_open(error, size) ? -1 : 0;
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info,
					   int argc, char **argv)
{
	static const struct qemu_callbacks callbacks = {
		.vcpu_created = vcpu_created,
		.translated = translation_made,
		.flushed = blocks_free,
		.ended = on_qemu_exit,
	};
	char error[512];

	if (start(info, argc, argv, error, sizeof(error))) {
		say(error);
		free_all();
		return -1;
	}
	qemu_callbacks_register(id, &callbacks);
	return 0;
}
