// SPDX-License-Identifier: LGPL-2.1-or-later
#include "nodes.h"

#include <errno.h>
#include <limits.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BITS (sizeof(unsigned long) * CHAR_BIT)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static unsigned long mask[IVL_MOST_NODES / BITS];
static unsigned int count = 1;

static bool is_set(unsigned int node)
{
	return mask[node / BITS] >> node % BITS & 1;
}

/* Once: a cpuset may change, but memory must be freed as it was allocated. */
static void ask(void)
{
	const int callers_errno = errno;

	/* Containers may forbid it. */
	if (!syscall(SYS_get_mempolicy, NULL, mask, (unsigned long)IVL_MOST_NODES, NULL,
		     MPOL_F_MEMS_ALLOWED))
		for (unsigned int node = 0; node < IVL_MOST_NODES; node++)
			if (is_set(node))
				count = node + 1;
	errno = callers_errno;
}

unsigned int ivl_node_count(void)
{
	pthread_once(&once, ask);
	return count;
}

bool ivl_node_known(int node)
{
	pthread_once(&once, ask);
	return node >= 0 && node < IVL_MOST_NODES && is_set((unsigned int)node);
}
