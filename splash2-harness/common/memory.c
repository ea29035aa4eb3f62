// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "splash.h"

/* Two lines of 64 bytes, which prefetchers take in pairs; one of the modelled caches'. */
#define LINE 128

/* Smaller blocks are not worth asking the kernel for. */
#define LARGE (1 << 20)

/* Bytes that can still be used without swapping. Without /proc: all that the machine has. */
static uint64_t available(void)
{
	uint64_t kib, bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	FILE *file = fopen("/proc/meminfo", "r");
	char line[128];

	if (!file)
		return bytes;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1)
			bytes = kib << 10;
	fclose(file);
	return bytes;
}

void *splash_alloc(size_t count, size_t bytes)
{
	void *block = NULL;
	size_t size;

	if (__builtin_mul_overflow(count, bytes, &size) || size > SIZE_MAX - LINE)
		splash_refuse("%zu x %zu bytes are more memory than can be addressed: choose a "
			      "smaller problem", count, bytes);
	size = (size + LINE - 1) / LINE * LINE;
	if (size < LARGE || size <= available())
		block = aligned_alloc(LINE, size ? size : LINE);
	if (!block)
		splash_refuse("%zu x %zu bytes of memory cannot be had, %" PRIu64 " MiB are left: "
			      "choose a smaller problem", count, bytes, available() >> 20);
	memset(block, 0, size);
	return block;
}
