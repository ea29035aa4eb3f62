/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Places: which CPUs belong together, found with hwloc or given, and how far
 * they are from each other. A tree: the leaves have the workers.
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
	unsigned int index;		/* among the leaves; IVL_INNER: it is around others */
	unsigned int number;		/* among all, the leaves first */
	unsigned int levels;		/* it, and the places around it */
	char name[24];
	int node;			/* the OS' number of the NUMA node; -1: none */
	const struct ivl_place *outer;	/* NULL: the machine */
	unsigned int worker_count;
	unsigned int first_worker;	/* workers are numbered place by place */
	int *cpus;			/* the OS' numbers; cpu_count of them */
	unsigned int cpu_count;
};

/* All places of one runtime. */
struct ivl_topology {
	struct ivl_place *leaves;	/* leaf_count of them, in the order of their index */
	unsigned int leaf_count;
	struct ivl_place *inner;	/* behind them: all around, outermost (the machine) first */
	unsigned int inner_count;
	unsigned int workers;
	bool bindable;			/* false: it describes another machine than this one */
	bool apart;			/* workers are to keep to the CPUs of their place */
};

/*
 * Find or parse the places that the configuration asks for, within the CPUs that the calling
 * thread may use, and spread the workers over them. EINVAL (with ivl_error()), ENOMEM.
 */
int ivl_topology_create(const struct ivl_config *config, struct ivl_topology **topology);
void ivl_topology_destroy(struct ivl_topology *topology);

static inline unsigned int ivl_topology_places(const struct ivl_topology *topology)
{
	return topology->leaf_count + topology->inner_count;
}

/* By its address alone: another runtime's may be gone. */
static inline bool ivl_topology_has(const struct ivl_topology *topology,
				    const struct ivl_place *place)
{
	return (uintptr_t)place - (uintptr_t)topology->leaves <
	       ivl_topology_places(topology) * sizeof(*place);
}

/* Is it that place, or one of those that it is around? */
static inline bool ivl_place_is_inside(const struct ivl_place *place,
				       const struct ivl_place *outer)
{
	while (place && place != outer)
		place = place->outer;
	return place;
}

/* The CPU of a worker that is bound to one; -1 where there is none to bind to. */
int ivl_topology_cpu(const struct ivl_topology *topology, unsigned int worker);
const struct ivl_place *ivl_topology_place(const struct ivl_topology *topology,
					   unsigned int worker);
/* Steps up the tree from `a` to the innermost place around both: 0 for the same leaf. */
unsigned int ivl_topology_distance(const struct ivl_place *a, const struct ivl_place *b);

/* Bind a thread; EINVAL where the process may use none of the CPUs. ENOMEM. */
int ivl_bind(pthread_t thread, const int *cpus, unsigned int count);

/*
 * Memory on a NUMA node (-1, or a machine without nodes: anywhere), not cleared, 128-byte
 * aligned; NULL: ENOMEM. On a node it is whole pages. Freed with the same size and node.
 */
void *ivl_node_alloc(size_t bytes, int node);
void ivl_node_free(void *memory, size_t bytes, int node);
/*
 * The node that has most of the memory's pages, of which up to 1024 are looked at. ENOENT: none
 * is there yet. EPERM, ENOSYS: the kernel does not say. ENOMEM.
 */
int ivl_node_of(const void *memory, size_t bytes, int *node);

#endif
