/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Blocks of one size, for what is made and freed all the time. Each worker keeps
 * up to two magazines of free blocks (Bonwick and Adams, "Magazines and Vmem",
 * 2001); full ones pass between workers through the depot. Memory goes back to the
 * system with the depot: a block once given out is never anything else.
 */
#ifndef IVL_BLOCKS_H
#define IVL_BLOCKS_H

#include <pthread.h>
#include <stddef.h>

struct ivl_block;
struct ivl_slab;

/* One worker's free blocks. Zeroes are an empty one. */
struct ivl_magazines {
	struct ivl_block *free, *full;
	unsigned int count;		/* in `free` */
};

struct ivl_depot {
	pthread_mutex_t lock;
	size_t block_bytes;
	struct ivl_block *full;		/* magazines */
	struct ivl_magazines loose;	/* of threads that are no workers */
	struct ivl_slab *slabs;
};

/* `block_bytes`: a multiple of 16. */
void ivl_depot_init(struct ivl_depot *depot, size_t block_bytes);
void ivl_depot_destroy(struct ivl_depot *depot);

/*
 * `own`: of the calling worker; NULL: the caller is none. New memory comes from the
 * NUMA node, and is zeroed; a block that was used is as it was put back but for its
 * first 16 bytes. NULL: ENOMEM.
 */
void *ivl_block_get(struct ivl_depot *depot, struct ivl_magazines *own, int node);
void ivl_block_put(struct ivl_depot *depot, struct ivl_magazines *own, void *block);
/* The worker has ended: its free blocks are others'. */
void ivl_blocks_leave(struct ivl_depot *depot, struct ivl_magazines *own);

#endif
