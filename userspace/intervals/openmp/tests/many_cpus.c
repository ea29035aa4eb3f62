// SPDX-License-Identifier: LGPL-2.1-or-later
/* A machine with more CPUs than a cpu_set_t has room for. */
#include <errno.h>
#include <sched.h>

#include "check.h"

enum { POSSIBLE = 4096, CPUS = 3000 };

/* Replaces the C library's: as a kernel with many possible CPUs answers. */
int sched_getaffinity(pid_t task, size_t bytes, cpu_set_t *set)
{
	if (bytes < POSSIBLE / 8) {
		errno = EINVAL;
		return -1;
	}
	CPU_ZERO_S(bytes, set);
	for (size_t cpu = 0; cpu < CPUS; cpu++)
		CPU_SET_S(cpu, bytes, set);
	return 0;
}

int main(void)
{
	CHECK(omp_get_num_procs() == CPUS);
	CHECK(omp_get_max_threads() == CPUS);
	return 0;
}
