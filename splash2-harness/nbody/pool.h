/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The cells of one worker: as many as a time step needs, and kept for the next. Only
 * the worker takes from its pool, so a pool has no lock; what it took, all may use.
 */
#ifndef NBODY_POOL_H
#define NBODY_POOL_H

#include <stddef.h>

/* Each chunk is as large as all before it: they outlast any address space. */
#define POOL_CHUNKS 48

struct pool {
	size_t bytes;			/* of an item */
	void (*prepare)(void *item);	/* of a new, zeroed item, before its first use */
	char *chunk[POOL_CHUNKS];
	size_t used, prepared;
};

void pool_init(struct pool *pool, size_t bytes, void (*prepare)(void *item));

/* An item, with what its last use left in it. */
void *pool_take(struct pool *pool);

/* Item 0 .. used - 1, in the order of taking. */
void *pool_at(const struct pool *pool, size_t index);

/* All items may be taken again. */
void pool_empty(struct pool *pool);

#endif
