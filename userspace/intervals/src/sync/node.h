/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The NUMA nodes as synchronisation sees them, and objects that have a part on each. */
#ifndef IVL_SYNC_NODE_H
#define IVL_SYNC_NODE_H

#include <stddef.h>

/* One more than the highest number of a node; the same as long as the process lives. */
unsigned int ivl_sync_nodes(void);
/* The caller's, below `nodes`. A moment later the caller may be elsewhere. */
unsigned int ivl_sync_node(unsigned int nodes);

/* What a mutex, a condition variable and a barrier begin with. */
struct ivl_sync_object {
	void **parts;			/* one per node, on it */
	unsigned int nodes;
	unsigned int home;		/* the node of the object itself */
	size_t bytes, part_bytes;
};

/*
 * An object of so many bytes, which begins with the structure above, on the caller's
 * node, and its parts. The rest is not initialised. NULL: ENOMEM.
 */
void *ivl_sync_create(size_t bytes, size_t part_bytes);
void ivl_sync_destroy(void *object);

#endif
