// SPDX-License-Identifier: GPL-2.0
#include "common/splash.h"
#include "pool.h"

/* Chunk k holds FIRST << k items. */
#define FIRST 64

void pool_init(struct pool *pool, size_t bytes, void (*prepare)(void *item))
{
	*pool = (struct pool){ .bytes = bytes, .prepare = prepare };
}

static unsigned int chunk_of(size_t index)
{
	return 63 - (unsigned int)__builtin_clzll(index / FIRST + 1);
}

void *pool_at(const struct pool *pool, size_t index)
{
	unsigned int k = chunk_of(index);

	return pool->chunk[k] + (index - FIRST * (((size_t)1 << k) - 1)) * pool->bytes;
}

void *pool_take(struct pool *pool)
{
	size_t index = pool->used++;
	unsigned int k = chunk_of(index);

	if (!pool->chunk[k])
		pool->chunk[k] = splash_alloc((size_t)FIRST << k, pool->bytes);
	if (index == pool->prepared) {
		pool->prepare(pool_at(pool, index));
		pool->prepared++;
	}
	return pool_at(pool, index);
}

void pool_empty(struct pool *pool)
{
	pool->used = 0;
}
