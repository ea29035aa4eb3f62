// SPDX-License-Identifier: LGPL-2.1-or-later
/* What all programs that run a kernel begin with. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"

const struct bench_kernel *bench_find_kernel(const char *name)
{
	for (const struct bench_kernel *const *kernel = bench_kernels; *kernel; kernel++)
		if (!strcmp((*kernel)->name, name))
			return *kernel;
	return NULL;
}

const struct bench_form *bench_find_form(const char *name)
{
	for (const struct bench_form *form = bench_runtime.forms; form->kernel; form++)
		if (!strcmp(form->kernel, name))
			return form;
	return NULL;
}

uint64_t bench_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

double bench_median(uint64_t *values, size_t count)
{
	qsort(values, count, sizeof(*values), order);
	return (double)values[count / 2];
}

/*
 * What /proc says of the memory since exec(). ru_maxrss would be the parent's where
 * that was larger: a process keeps it over exec().
 */
unsigned long bench_peak_kib(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	unsigned long peak = 0;
	char line[128];

	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "VmHWM: %lu", &peak) == 1)
			break;
	fclose(file);
	return peak;
}
