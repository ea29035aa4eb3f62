/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Places: groups of CPUs, from hwloc or given, and their distances. A tree whose leaves have the
 * workers.
 */
#ifndef IVL_PLACE_H
#define IVL_PLACE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "intervals.h"

#define IVL_INNER ~0u

struct ivl_place {
	unsigned int index;		/* among the leaves; IVL_INNER: not a leaf */
	unsigned int number;		/* among all, leaves first */
	unsigned int levels;		/* itself and the places around it */
	char name[24];
	int node;			/* kernel's NUMA node number; -1: none */
	const struct ivl_place *outer;	/* NULL: the machine */
	unsigned int worker_count;
	unsigned int first_worker;	/* workers are numbered place by place */
	int *cpus;			/* cpu_count kernel CPU numbers */
	unsigned int cpu_count;
};

/* All places of one runtime. */
struct ivl_topology {
	struct ivl_place *leaves;	/* leaf_count of them, by index */
	unsigned int leaf_count;
	struct ivl_place *inner;	/* behind the leaves, outermost first */
	unsigned int inner_count;
	unsigned int workers;
	bool bindable;			/* false: the topology of another machine */
	bool apart;			/* workers keep to the CPUs of their place */
};

/*
 * Find or parse the configured places, within the CPUs that the calling thread may use, and
 * distribute the workers. EINVAL (with ivl_error()), ENOMEM.
 */
int ivl_topology_create(const struct ivl_config *config, struct ivl_topology **topology);
void ivl_topology_destroy(struct ivl_topology *topology);

static inline unsigned int ivl_topology_places(const struct ivl_topology *topology)
{
	return topology->leaf_count + topology->inner_count;
}

/* By address alone: a place of another runtime may be gone. */
static inline bool ivl_topology_has(const struct ivl_topology *topology,
				    const struct ivl_place *place)
{
	return (uintptr_t)place - (uintptr_t)topology->leaves <
	       ivl_topology_places(topology) * sizeof(*place);
}

/* Is it `outer`, or inside of it? */
static inline bool ivl_place_is_inside(const struct ivl_place *place,
				       const struct ivl_place *outer)
{
	while (place && place != outer)
		place = place->outer;
	return place;
}

/* The CPU to bind the worker to; -1: none. */
int ivl_topology_cpu(const struct ivl_topology *topology, unsigned int worker);
const struct ivl_place *ivl_topology_place(const struct ivl_topology *topology,
					   unsigned int worker);
/* Steps from `a` to the innermost place that contains both; 0: the same leaf. */
unsigned int ivl_topology_distance(const struct ivl_place *a, const struct ivl_place *b);

/* Bind a thread. EINVAL: the process may use none of the CPUs. ENOMEM. */
int ivl_bind(pthread_t thread, const int *cpus, unsigned int count);

/*
 * Uninitialised memory on a NUMA node (-1: any), 128-byte aligned; whole pages if there are several
 * nodes. NULL: ENOMEM. Free with the same size and node.
 */
void *ivl_node_alloc(size_t bytes, int node);
void ivl_node_free(void *memory, size_t bytes, int node);
/*
 * The node of most of the pages, of which up to 1024 are sampled. ENOENT: no page is present.
 * EPERM, ENOSYS: unknown. ENOMEM.
 */
int ivl_node_of(const void *memory, size_t bytes, int *node);

#endif
