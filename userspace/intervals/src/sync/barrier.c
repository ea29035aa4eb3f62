// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>

#include "deadlock.h"
#include "intervals_sync.h"
#include "sync/gathering.h"
#include "sync/node.h"

struct ivl_numa_barrier {
	struct ivl_sync_object object;	/* with a struct ivl_gathering_node per node */
	struct ivl_gathering all;
};

int ivl_numa_barrier_init(ivl_numa_barrier **result, unsigned int count)
{
	ivl_numa_barrier *barrier;

	if (!count)
		return EINVAL;
	barrier = ivl_sync_create(sizeof(*barrier), sizeof(struct ivl_gathering_node));
	if (!barrier)
		return ENOMEM;
	ivl_gathering_init(&barrier->all, count, barrier->object.parts, barrier->object.nodes);
	*result = barrier;
	return 0;
}

int ivl_numa_barrier_destroy(ivl_numa_barrier *barrier)
{
	for (unsigned int i = 0; i < barrier->object.nodes; i++)
		if (!ivl_gathering_empty(&barrier->all, i))
			return EBUSY;
	ivl_sync_destroy(barrier);
	return 0;
}

/* A foreign thread might come, but not for tasks that were refused a stack. */
static bool describe(const void *arg, struct ivl_inspection *inspection)
{
	const ivl_numa_barrier *barrier = arg;
	unsigned int arrived = atomic_load_explicit(&barrier->all.arrived, memory_order_relaxed);

	for (unsigned int i = 0; i < barrier->object.nodes; i++)
		arrived += atomic_load_explicit(
			&((struct ivl_gathering_node *)barrier->object.parts[i])->arrived,
			memory_order_relaxed);
	ivl_inspection_say(inspection, " waits at a barrier for %u, of which %u have arrived",
			   barrier->all.count, arrived);
	return atomic_load_explicit(&inspection->runtime->refused, memory_order_relaxed) != 0;
}

int ivl_numa_barrier_wait(ivl_numa_barrier *barrier)
{
	const unsigned int node = ivl_sync_node(barrier->object.nodes);
	bool last;

	ivl_awaits(barrier, describe);
	last = ivl_this_runtime() ? ivl_gathering_wait_task(&barrier->all, node) :
				    ivl_gathering_wait_thread(&barrier->all, node);
	ivl_awaits(NULL, NULL);
	return last ? IVL_NUMA_BARRIER_SERIAL : 0;
}
