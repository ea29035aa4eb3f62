/* SPDX-License-Identifier: GPL-2.0 */
/* Arrays whose elements share no cache line, for a line size known at run time. */
#ifndef MICROBENCH_LAYOUT_H
#define MICROBENCH_LAYOUT_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct padded {
	char *base;
	size_t stride;	/* bytes, a multiple of the line */
};

/* `count` zeroed elements of `size` bytes, each on lines of its own. Exits when out of memory. */
struct padded padded_alloc(size_t count, size_t size, size_t line);

static inline void *padded_at(const struct padded *array, size_t i)
{
	return array->base + i * array->stride;
}

/* `count` initialised mutexes (pthread_mutex_t), each on lines of its own. */
struct padded padded_mutexes(size_t count, size_t line);

/* A counter as wide as the critical section: one word at the start of each of its lines. */
static inline void counter_increment(void *counter, unsigned int lines, size_t line)
{
	for (unsigned int i = 0; i < lines; i++)
		++*(uint64_t *)((char *)counter + i * line);
}

/* The first line whose word is not `expected`, or `lines` when all are. */
static inline unsigned int counter_mismatch(const void *counter, unsigned int lines, size_t line,
					    uint64_t expected)
{
	unsigned int i = 0;

	while (i < lines && *(const uint64_t *)((const char *)counter + i * line) == expected)
		i++;
	return i;
}

static inline uint64_t counter_value(const void *counter, unsigned int i, size_t line)
{
	return *(const uint64_t *)((const char *)counter + i * line);
}

#endif
