/* SPDX-License-Identifier: GPL-2.0 */
/* A job's settings of the guest's kernel. */
#ifndef GUEST_SETTINGS_H
#define GUEST_SETTINGS_H

#include <stdbool.h>

#include "job.h"

/* Only a kernel with FAST has it. */
#define SETTINGS_FAST "/sys/kernel/debug/sched/fast"
/* All kernels of the simulation have it (Kbuild/patches). */
#define SETTINGS_CONFINE "/sys/kernel/debug/sched/confine"

/*
 * Write the settings into their files, in their order. `root` precedes each path: "" in the
 * guest. Returns false when the kernel refuses one, after the reason has been sent to the host.
 */
bool settings_apply(const struct settings *settings, const char *root);

/*
 * Confine the calling thread and its future children to the CPUs 0..cpus-1, without a change
 * of the CPUs and the affinity mask that they see; 0: not at all. `root` as above. Returns false
 * with errno if one of the CPUs does not exist, or the kernel cannot confine.
 */
bool settings_confine(unsigned int cpus, const char *root);

#endif
