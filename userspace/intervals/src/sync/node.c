// SPDX-License-Identifier: LGPL-2.1-or-later
#include <numa.h>
#include <sched.h>

#include "intervals.h"
#include "sync/node.h"

unsigned int ivl_sync_nodes(void)
{
	return numa_available() < 0 ? 1 : (unsigned int)numa_max_node() + 1;
}

unsigned int ivl_sync_node(unsigned int nodes)
{
	const ivl_place *place;
	unsigned int cpu, node;
	int of_place;

	if (nodes == 1)
		return 0;
	place = ivl_here();
	of_place = place ? ivl_place_node(place) : -1;
	if (of_place >= 0)
		node = (unsigned int)of_place;
	else if (getcpu(&cpu, &node))
		node = 0;
	/* Where libnuma does not know all nodes (a container may hide them). */
	return node < nodes ? node : 0;
}
