/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NUMA nodes for synchronisation objects, which have a part on each node. */
#ifndef IVL_SYNC_NODE_H
#define IVL_SYNC_NODE_H

#include <stddef.h>

/* One more than the highest node number; constant for the process. */
unsigned int ivl_sync_nodes(void);
/* The caller's present node, below `nodes`. */
unsigned int ivl_sync_node(unsigned int nodes);

/* First member of a mutex, a condition variable and a barrier. */
struct ivl_sync_object {
	void **parts;			/* one per node, in its memory */
	unsigned int nodes;
	unsigned int home;		/* the object's own node */
	size_t bytes, part_bytes;
};

/*
 * An object of `bytes`, which begins with the structure above, on the caller's node, and its parts.
 * The rest is not initialised. NULL: ENOMEM.
 */
void *ivl_sync_create(size_t bytes, size_t part_bytes);
void ivl_sync_destroy(void *object);

#endif
