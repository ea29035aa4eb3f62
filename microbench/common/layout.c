// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <error.h>
#include <stdlib.h>
#include <string.h>

#include "layout.h"

struct padded padded_alloc(size_t count, size_t size, size_t line)
{
	struct padded array = { .stride = (size + line - 1) / line * line };

	array.base = aligned_alloc(line, count * array.stride);
	if (!array.base)
		error(1, errno, "cannot allocate %zu x %zu bytes: lower --threads, --cs-lines or --line",
		      count, array.stride);
	memset(array.base, 0, count * array.stride);
	return array;
}

struct padded padded_mutexes(size_t count, size_t line)
{
	struct padded array = padded_alloc(count, sizeof(pthread_mutex_t), line);

	for (size_t i = 0; i < count; i++)
		pthread_mutex_init(padded_at(&array, i), NULL);
	return array;
}
