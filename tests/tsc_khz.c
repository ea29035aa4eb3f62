// SPDX-License-Identifier: GPL-2.0
/* How many thousand times a second the TSC counts. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

struct moment {
	uint64_t ns, tsc;
};

static struct moment now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (struct moment){ (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec, __rdtsc() };
}

int main(void)
{
	const struct moment begin = now();
	struct moment end;

	do
		end = now();
	while (end.ns - begin.ns < 200000000);
	printf("%.0f\n", (double)(end.tsc - begin.tsc) * 1e6 / (double)(end.ns - begin.ns));
	return 0;
}
