// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Memory on a NUMA node: whole pages that prefer the node. Preferring instead of binding: if the
 * node is full, memory comes from another one instead of the OOM killer. On a machine with one node
 * the heap is used.
 */
#include <errno.h>
#include <limits.h>
#include <linux/mempolicy.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "nodes.h"
#include "place.h"
#include "tunables.h"

static bool has_node(int node)
{
	return ivl_node_count() > 1 && ivl_node_known(node);
}

static void prefer_node(void *memory, size_t bytes, int node)
{
	const size_t bits = sizeof(unsigned long) * CHAR_BIT;
	unsigned long mask[IVL_MOST_NODES / (sizeof(unsigned long) * CHAR_BIT)] = { 0 };
	const int callers_errno = errno;

	mask[(size_t)node / bits] = 1UL << (size_t)node % bits;
	/* If containers forbid it, memory is where it is first touched. */
	syscall(SYS_mbind, memory, bytes, MPOL_PREFERRED, mask, IVL_MOST_NODES + 1UL, 0);
	errno = callers_errno;
}

void *ivl_node_alloc(size_t bytes, int node)
{
	void *memory;

	if (!bytes)
		bytes = 1;
	if (bytes > PTRDIFF_MAX - IVL_LINE)
		return NULL;
	if (!has_node(node))
		return aligned_alloc(IVL_LINE, (bytes + IVL_LINE - 1) & ~(size_t)(IVL_LINE - 1));
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

#define SAMPLES 1024			/* pages looked at, at most */
#define BATCH 64			/* pages per system call */

/* Add the nodes of samples begin to end to `pages_on`. */
static int ask_batch(uintptr_t first_page, size_t pages, size_t samples, size_t begin, size_t end,
		     unsigned int *pages_on, int nodes)
{
	const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	void *address[BATCH];
	int status[BATCH];

	for (size_t i = begin; i < end; i++)
		address[i - begin] = (void *)(first_page + pages * i / samples * page_bytes);
	/* Without target nodes the call moves nothing and reports each page's node, or -ENOENT. */
	if (syscall(SYS_move_pages, 0, end - begin, address, NULL, status, 0) < 0)
		return errno;
	for (size_t i = 0; i < end - begin; i++)
		if (status[i] >= 0 && status[i] < nodes)
			pages_on[status[i]]++;
	return 0;
}

int ivl_node_of(const void *memory, size_t bytes, int *node)
{
	const uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	const uintptr_t first = (uintptr_t)memory & ~(page_bytes - 1);
	const size_t pages = ((uintptr_t)memory + bytes - 1 - first) / page_bytes + 1;
	const size_t samples = pages < SAMPLES ? pages : SAMPLES;
	const int nodes = (int)ivl_node_count();
	unsigned int *pages_on = calloc((size_t)nodes, sizeof(*pages_on));
	int error = pages_on ? 0 : ENOMEM;

	for (size_t i = 0; i < samples && !error; i += BATCH)
		error = ask_batch(first, pages, samples, i,
				  i + BATCH < samples ? i + BATCH : samples, pages_on, nodes);
	*node = 0;
	for (int i = 1; i < nodes && !error; i++)
		if (pages_on[i] > pages_on[*node])
			*node = i;
	if (!error && !pages_on[*node])
		error = ENOENT;
	free(pages_on);
	return error;
}
