/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Blocks of one size. Each worker keeps up to two magazines of free blocks (Bonwick and Adams,
 * "Magazines and Vmem", 2001); full ones pass between workers through the depot. Memory goes back
 * to the system with the depot, so a block keeps its type for ever.
 */
#ifndef IVL_BLOCKS_H
#define IVL_BLOCKS_H

#include <pthread.h>
#include <stddef.h>

struct ivl_block;
struct ivl_slab;

/* A worker's free blocks. All zeroes: none. */
struct ivl_magazines {
	struct ivl_block *free, *full;
	unsigned int count;
};

struct ivl_depot {
	pthread_mutex_t lock;
	size_t block_bytes;
	struct ivl_block *full;
	struct ivl_magazines loose;	/* of threads that are not workers */
	struct ivl_slab *slabs;
};

void ivl_depot_init(struct ivl_depot *depot, size_t block_bytes);
void ivl_depot_destroy(struct ivl_depot *depot);

/*
 * `own`: the calling worker's, or NULL. New memory is zeroed and comes from the NUMA node; a reused
 * block keeps its contents except for the first 16 bytes. NULL: ENOMEM.
 */
void *ivl_block_get(struct ivl_depot *depot, struct ivl_magazines *own, int node);
void ivl_block_put(struct ivl_depot *depot, struct ivl_magazines *own, void *block);
/* The worker ends: its free blocks go to the depot. */
void ivl_blocks_leave(struct ivl_depot *depot, struct ivl_magazines *own);

#endif
