/* SPDX-License-Identifier: GPL-2.0 */
/* The BPF object: loaded, and attached to the kernel. */
#ifndef SCX_SCHEDULER_H
#define SCX_SCHEDULER_H

#include "scx_fast.h"

struct bpf_object;

struct scheduler {
	struct bpf_object *object;
	const volatile struct shared *shared;
};

/*
 * Load it for all threads of the machine, or for those with the policy SCHED_EXT. Returns 0, or an
 * errno after libbpf has said more.
 */
int scheduler_load(struct scheduler *scheduler, enum mode mode, bool everything);

/* All threads go back to the kernel's own scheduler. */
void scheduler_unload(struct scheduler *scheduler);

/* Of this machine: CPUs, their last level caches, the slice of the kernel's own scheduler. */
void settings_of_machine(struct settings *settings, const char *sys);

#endif
