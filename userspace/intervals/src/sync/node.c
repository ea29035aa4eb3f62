// SPDX-License-Identifier: LGPL-2.1-or-later
#include <sched.h>

#include "intervals.h"
#include "nodes.h"
#include "sync/node.h"

unsigned int ivl_sync_nodes(void)
{
	return ivl_node_count();
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
	/* The process may have no memory on that node. */
	return node < nodes ? node : 0;
}
