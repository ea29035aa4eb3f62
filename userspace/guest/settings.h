/* SPDX-License-Identifier: GPL-2.0 */
/* What a job asks of the guest's kernel before and while its workload runs. */
#ifndef GUEST_SETTINGS_H
#define GUEST_SETTINGS_H

#include <stdbool.h>

#include "job.h"

/* Only a kernel with FAST has it. */
#define SETTINGS_FAST "/sys/kernel/debug/sched/fast"
/* All kernels of the simulation have it (Kbuild/patches). */
#define SETTINGS_CONFINE "/sys/kernel/debug/sched/confine"

/*
 * Set what the job says of sched/fast, then the scheduler's features, each in its order.
 * `root` is what comes before /sys: "" in the guest. False when the kernel refuses one: which,
 * and why, has been sent to the host.
 */
bool settings_apply(const struct job *job, const char *root);

/*
 * Confine the calling thread, and the children that it will have, to the CPUs 0..cpus-1,
 * without changing what they are told of the machine's CPUs and of their affinity; 0 confines
 * to nothing. `root` as above. False with errno set when one of the CPUs is not there, or the
 * kernel cannot do it.
 */
bool settings_confine(unsigned int cpus, const char *root);

#endif
