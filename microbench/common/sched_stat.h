/* SPDX-License-Identifier: GPL-2.0 */
/* What the scheduler did to the worker threads. */
#ifndef MICROBENCH_SCHED_STAT_H
#define MICROBENCH_SCHED_STAT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct sched_stat {
	uint64_t context_switches;
	uint64_t migrations;
	bool has_migrations;	/* false: the kernel does not say (no CONFIG_SCHED_DEBUG) */
};

/* Add the thread's counts so far to `sum`. False when its /proc file does not say. */
bool sched_stat_add(struct sched_stat *sum, pid_t tid);

/*
 * All context switches of the process so far, main thread included: what is
 * left where the threads' own files are missing.
 */
struct sched_stat sched_stat_of_process(void);

#endif
