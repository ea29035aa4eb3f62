// SPDX-License-Identifier: GPL-2.0
/*
 * Memory on a NUMA node: whole pages that prefer the node. Preferring, not
 * binding: where the node is full the memory comes from another one, and no
 * process is killed for it. A machine with one node uses the heap, which does
 * not round up to pages.
 */
#include <errno.h>
#include <limits.h>
#include <numa.h>
#include <numaif.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "place.h"

#define ALIGNMENT 128		/* two cache lines: the line beside is prefetched with it */

/* Gives the same answer at every call, so that free does what alloc did. */
static bool has_node(int node)
{
	return node >= 0 && numa_available() >= 0 && numa_max_node() > 0 &&
	       node <= numa_max_node() &&
	       numa_bitmask_isbitset(numa_all_nodes_ptr, (unsigned int)node);
}

static void prefer_node(void *memory, size_t bytes, int node)
{
	struct bitmask *mask = numa_allocate_nodemask();
	int caller_errno = errno;

	if (!mask)
		return;
	numa_bitmask_setbit(mask, (unsigned int)node);
	/* Containers may forbid it; then the memory is where it is first touched. */
	mbind(memory, bytes, MPOL_PREFERRED, mask->maskp, mask->size + 1, 0);
	numa_bitmask_free(mask);
	errno = caller_errno;
}

void *ivl_node_alloc(size_t bytes, int node)
{
	void *memory;

	if (!bytes)
		bytes = 1;
	if (bytes > PTRDIFF_MAX - ALIGNMENT)
		return NULL;
	if (!has_node(node))
		return aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1));
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	prefer_node(memory, bytes, node);
	return memory;
}

void ivl_node_free(void *memory, size_t bytes, int node)
{
	if (!memory)
		return;
	if (has_node(node))
		munmap(memory, bytes ? bytes : 1);
	else
		free(memory);
}
