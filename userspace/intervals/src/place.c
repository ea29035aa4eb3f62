// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Places from hwloc's topology: the chosen groups of CPUs are the leaves of the tree, all coarser
 * groups the places around them.
 *
 * Only CPUs that the calling thread may use count: hwloc leaves out what the cgroup forbids, and
 * the topology is restricted to the thread's binding. The topology of another machine
 * (HWLOC_SYNTHETIC, HWLOC_XMLFILE) is used whole, and workers are not bound.
 */
#include "place.h"

#include <errno.h>
#include <hwloc.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "cgroup.h"
#include "machine.h"
#include "place_groups.h"
#include "scheduler.h"

/*
 * In the order in which workers are bound: the first hardware thread of each core comes before any
 * second one.
 */
static int place_cpus(struct ivl_place *place, hwloc_topology_t topology,
		      const struct ivl_cpu_group *group)
{
	unsigned int all = (unsigned int)hwloc_bitmap_weight(group->cpus);

	place->cpus = calloc(all, sizeof(*place->cpus));
	if (!place->cpus)
		return ENOMEM;
	for (unsigned int rank = 0; place->cpu_count < all; rank++) {
		hwloc_obj_t pu = NULL;

		while ((pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu))) {
			bool on_core = pu->parent && pu->parent->type == HWLOC_OBJ_CORE;

			if (hwloc_bitmap_isset(group->cpus, pu->os_index) &&
			    (on_core ? pu->sibling_rank : 0) == rank)
				place->cpus[place->cpu_count++] = (int)pu->os_index;
		}
	}
	return 0;
}

static int place_init(struct ivl_place *place, unsigned int index, unsigned int number,
		      hwloc_topology_t topology, const struct ivl_cpu_group *group)
{
	place->index = index;
	place->number = number;
	memcpy(place->name, group->name, sizeof(place->name));
	place->node = ivl_group_node(topology, group);
	return place_cpus(place, topology, group);
}

/*
 * Each worker goes to the place with the most CPUs per worker (divisor method of Adams): each place
 * has one before any has two, and with a worker per CPU each place has as many as CPUs.
 */
static void spread_workers(struct ivl_topology *topology)
{
	unsigned int first = 0;

	for (unsigned int w = 0; w < topology->workers; w++) {
		struct ivl_place *best = &topology->leaves[0];

		for (unsigned int i = 1; i < topology->leaf_count; i++) {
			struct ivl_place *leaf = &topology->leaves[i];

			if ((unsigned long long)leaf->worker_count * best->cpu_count <
			    (unsigned long long)best->worker_count * leaf->cpu_count)
				best = leaf;
		}
		best->worker_count++;
	}
	for (unsigned int i = 0; i < topology->leaf_count; i++) {
		topology->leaves[i].first_worker = first;
		first += topology->leaves[i].worker_count;
	}
}

static void count_levels(struct ivl_place *place)
{
	place->levels = place->outer ? place->outer->levels + 1 : 1;
}

/* Inner places are ordered by size, so the last match is the innermost. */
static void link_outer(struct ivl_topology *topology, const struct ivl_groups *leaves,
		       const struct ivl_groups *inner)
{
	for (unsigned int i = 0; i < topology->inner_count; i++) {
		for (unsigned int j = 0; j < i; j++)
			if (hwloc_bitmap_isincluded(inner->all[i].cpus, inner->all[j].cpus))
				topology->inner[i].outer = &topology->inner[j];
		count_levels(&topology->inner[i]);
		topology->inner[i].first_worker = topology->workers;
	}
	for (unsigned int i = 0; i < topology->leaf_count; i++) {
		struct ivl_place *leaf = &topology->leaves[i];

		for (unsigned int j = 0; j < topology->inner_count; j++) {
			struct ivl_place *around = &topology->inner[j];

			if (!hwloc_bitmap_isincluded(leaves->all[i].cpus, inner->all[j].cpus))
				continue;
			leaf->outer = around;
			around->worker_count += leaf->worker_count;
			if (leaf->first_worker < around->first_worker)
				around->first_worker = leaf->first_worker;
		}
		count_levels(leaf);
	}
}

static int build(struct ivl_topology *topology, hwloc_topology_t hwloc,
		 const struct ivl_groups *leaves, const struct ivl_groups *inner)
{
	int error = 0;

	topology->leaves = calloc(leaves->count + inner->count, sizeof(*topology->leaves));
	if (!topology->leaves)
		return ENOMEM;
	topology->leaf_count = leaves->count;
	topology->inner = topology->leaves + leaves->count;
	topology->inner_count = inner->count;
	for (unsigned int i = 0; i < leaves->count && !error; i++)
		error = place_init(&topology->leaves[i], i, i, hwloc, &leaves->all[i]);
	for (unsigned int i = 0; i < inner->count && !error; i++)
		error = place_init(&topology->inner[i], IVL_INNER, leaves->count + i, hwloc,
				   &inner->all[i]);
	if (error)
		return error;
	topology->bindable = hwloc_topology_is_thissystem(hwloc);
	spread_workers(topology);
	link_outer(topology, leaves, inner);
	return 0;
}

/* A place without workers would keep the work submitted to it. */
static int limit_leaves(struct ivl_groups *leaves, const struct ivl_config *config,
			unsigned int workers)
{
	if (leaves->count <= workers)
		return 0;
	if (config->places == IVL_PLACES_GIVEN)
		return ivl_error(EINVAL, "%u places for %u workers: each place needs one",
				 leaves->count, workers);
	while (leaves->count > workers)
		hwloc_bitmap_free(leaves->all[--leaves->count].cpus);
	return 0;
}

/* One per CPU, but no more than the cgroup's quota allows. */
static unsigned int default_workers(hwloc_topology_t hwloc, hwloc_const_bitmap_t cpus)
{
	const unsigned int all = (unsigned int)hwloc_bitmap_weight(cpus);
	const unsigned int quota = hwloc_topology_is_thissystem(hwloc) ? ivl_cgroup_cpus("") : 0;

	return quota && quota < all ? quota : all;
}

static int describe(struct ivl_topology *topology, const struct ivl_config *config,
		    hwloc_topology_t hwloc, hwloc_bitmap_t within)
{
	struct ivl_groups leaves = { NULL, 0 }, inner = { NULL, 0 };
	const bool given = config->places == IVL_PLACES_GIVEN;
	unsigned int found = 0;
	int error;

	if (config->places >= IVL_PLACES_KINDS)
		return ivl_error(EINVAL, "no such kind of places: %d", (int)config->places);
	if (given)
		error = ivl_groups_parse(&leaves, hwloc, config);
	else
		error = ivl_groups_find(&leaves, hwloc, config->places,
				    hwloc_topology_get_topology_cpuset(hwloc));
	if (!error)
		error = ivl_groups_union(&leaves, within);
	if (!error) {
		topology->workers = config->workers ? config->workers :
						      default_workers(hwloc, within);
		found = leaves.count;
		error = limit_leaves(&leaves, config, topology->workers);
	}
	if (!error)
		error = ivl_groups_union(&leaves, within);
	if (!error)
		error = ivl_groups_around(&inner, hwloc, &leaves, within);
	if (!error)
		error = build(topology, hwloc, &leaves, &inner);
	/* With fewer workers than places, all such processes would share the first. */
	topology->apart = given || (found > 1 && leaves.count == found);
	ivl_groups_free(&leaves);
	ivl_groups_free(&inner);
	return error;
}

int ivl_topology_create(const struct ivl_config *config, struct ivl_topology **topology)
{
	struct ivl_topology *new = calloc(1, sizeof(*new));
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
	hwloc_topology_t hwloc;
	int error = ENOMEM;

	if (new && cpus)
		error = ivl_machine_get(&hwloc);
	if (!error) {
		error = describe(new, config, hwloc, cpus);
		ivl_machine_put(hwloc);
	}
	hwloc_bitmap_free(cpus);
	if (error)
		ivl_topology_destroy(new);
	else
		*topology = new;
	return error;
}

void ivl_topology_destroy(struct ivl_topology *topology)
{
	if (!topology)
		return;
	for (unsigned int i = 0; i < ivl_topology_places(topology); i++)
		free(topology->leaves[i].cpus);
	free(topology->leaves);
	free(topology);
}

const struct ivl_place *ivl_topology_place(const struct ivl_topology *topology, unsigned int worker)
{
	const struct ivl_place *leaf = topology->leaves;

	while (worker >= leaf->first_worker + leaf->worker_count)
		leaf++;
	return leaf;
}

int ivl_topology_cpu(const struct ivl_topology *topology, unsigned int worker)
{
	const struct ivl_place *place = ivl_topology_place(topology, worker);

	if (!topology->bindable)
		return -1;
	return place->cpus[(worker - place->first_worker) % place->cpu_count];
}

unsigned int ivl_topology_distance(const struct ivl_place *a, const struct ivl_place *b)
{
	unsigned int steps = 0;

	for (; a && !ivl_place_is_inside(b, a); a = a->outer)
		steps++;
	return steps;
}

int ivl_bind(pthread_t thread, const int *cpus, unsigned int count)
{
	int error, most = -1;
	size_t bytes;
	cpu_set_t *set;

	for (unsigned int i = 0; i < count; i++) {
		if (cpus[i] > most)
			most = cpus[i];
	}
	if (most < 0)
		return EINVAL;
	bytes = CPU_ALLOC_SIZE((size_t)most + 1);
	set = CPU_ALLOC((size_t)most + 1);
	if (!set)
		return ENOMEM;
	CPU_ZERO_S(bytes, set);
	for (unsigned int i = 0; i < count; i++)
		CPU_SET_S((size_t)cpus[i], bytes, set);
	error = pthread_setaffinity_np(thread, bytes, set);
	CPU_FREE(set);
	return error;
}

unsigned int ivl_place_index(const ivl_place *place)
{
	return place->index;
}

const char *ivl_place_name(const ivl_place *place)
{
	return place->name;
}

int ivl_place_node(const ivl_place *place)
{
	return place->node;
}

const ivl_place *ivl_place_outer(const ivl_place *place)
{
	return place->outer;
}
