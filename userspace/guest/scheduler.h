/* SPDX-License-Identifier: GPL-2.0 */
/* The job's sched_ext scheduler: loaded before the workload begins, and there when it ends. */
#ifndef GUEST_SCHEDULER_H
#define GUEST_SCHEDULER_H

#include <stdbool.h>

#include "job.h"

/* Only a kernel with sched_ext has it. */
#define SCHEDULER_STATE "/sys/kernel/sched_ext/state"
/* How often a scheduler was enabled. */
#define SCHEDULER_SEQUENCE "/sys/kernel/sched_ext/enable_seq"

/*
 * Start the program `argv` that loads a scheduler, and return when the kernel has enabled it; at
 * once if there is no program. `root` precedes /sys and the file of the program's errors: "" in the
 * guest. Returns false when the program ends before, after the reason has been sent to the host.
 */
bool scheduler_start(char *const *argv, const char *root);

/*
 * After the workload: was the job's scheduler enabled to its end or, where the workload loads one,
 * at any time? Returns false if not, after the reason has been sent to the host. `root` as above.
 */
bool scheduler_acted(const struct job *job, const char *root);

#endif
