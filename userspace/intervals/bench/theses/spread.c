// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Data on several NUMA nodes. The NUMA thesis' programs make them ready in parallel, and move their
 * pages (section 5.6.1); here one thread makes them, and they are moved.
 */
#include <limits.h>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "theses.h"

#define MOST_NODES 1024
#define BITS (sizeof(unsigned long) * CHAR_BIT)

enum bench_locality bench_spread;

static unsigned int node_count(void)
{
	unsigned long mask[MOST_NODES / BITS] = { 0 };
	unsigned int count = 1;

	syscall(SYS_get_mempolicy, NULL, mask, (unsigned long)MOST_NODES, NULL,
		MPOL_F_MEMS_ALLOWED);
	for (unsigned int node = 0; node < MOST_NODES; node++)
		if (mask[node / BITS] >> node % BITS & 1)
			count = node + 1;
	return count;
}

/* If the kernel refuses, the data stay: programs look up their place. */
void spread_move(void *memory, size_t bytes, unsigned int node)
{
	unsigned long mask[MOST_NODES / BITS] = { 0 };
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t begin = ((uintptr_t)memory + page - 1) & ~(page - 1);
	uintptr_t end = ((uintptr_t)memory + bytes) & ~(page - 1);

	node %= node_count();
	mask[node / BITS] = 1UL << node % BITS;
	if (begin < end)
		syscall(SYS_mbind, begin, end - begin, MPOL_PREFERRED, mask, MOST_NODES + 1UL,
			MPOL_MF_MOVE);
}
