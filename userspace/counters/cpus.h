/* SPDX-License-Identifier: GPL-2.0 */
/* Sets of CPUs as the kernel writes them: "0-3,8". */
#ifndef FAST_COUNTERS_CPUS_H
#define FAST_COUNTERS_CPUS_H

#include <sched.h>
#include <stddef.h>
#include <sys/types.h>

/* Returns 0, or -1: @list is no such list, or names a CPU above 1023. */
int cpus_parse(const char *list, cpu_set_t *cpus);

/* The CPUs that a process may use. Returns 0, or -1 with errno; EOVERFLOW: one is above 1023. */
int cpus_allowed(pid_t pid, cpu_set_t *cpus);

/* Cut to @size bytes; 4,096 are enough for any set. */
void cpus_format(const cpu_set_t *cpus, char *text, size_t size);

#endif
