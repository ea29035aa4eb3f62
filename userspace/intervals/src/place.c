// SPDX-License-Identifier: GPL-2.0
/*
 * Places from hwloc's topology. CPUs are grouped by the object that stands for
 * them (their NUMA node, their package, ...); the groups asked for become the
 * leaves of the tree, all coarser groups the places around them.
 *
 * The CPUs are those that the calling thread may use, which threads that it
 * starts inherit: hwloc leaves out what the cgroup forbids, and the topology is
 * restricted to the thread's binding. A topology that describes another machine
 * (HWLOC_SYNTHETIC, HWLOC_XMLFILE) is taken whole, and nothing is bound.
 */
#include <errno.h>
#include <hwloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "place.h"
#include "place_cpus.h"
#include "scheduler.h"

#define INNER ~0u

/* CPUs that belong together, and why. */
struct group {
	hwloc_obj_t object;		/* NULL: because they were given so */
	hwloc_bitmap_t cpus;
	char name[sizeof(((struct ivl_place *)0)->name)];
};

struct groups {
	struct group *all;
	unsigned int count;
};

static void groups_free(struct groups *groups)
{
	for (unsigned int i = 0; i < groups->count; i++)
		hwloc_bitmap_free(groups->all[i].cpus);
	free(groups->all);
}

/* NULL: ENOMEM. */
static struct group *groups_add(struct groups *groups)
{
	struct group *all = realloc(groups->all, (groups->count + 1) * sizeof(*all));
	struct group *group;

	if (!all)
		return NULL;
	groups->all = all;
	group = &all[groups->count];
	memset(group, 0, sizeof(*group));
	group->cpus = hwloc_bitmap_alloc();
	if (!group->cpus)
		return NULL;
	groups->count++;
	return group;
}

/*
 * What a CPU is grouped by. Each answers for every CPU: where there is no such
 * object it is one around it.
 */
static hwloc_obj_t machine_of(hwloc_topology_t topology, hwloc_obj_t pu)
{
	(void)pu;
	return hwloc_get_root_obj(topology);
}

static hwloc_obj_t package_of(hwloc_topology_t topology, hwloc_obj_t pu)
{
	hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, pu);

	return package ? package : hwloc_get_root_obj(topology);
}

/* The closest node; of several equally close ones (DRAM beside HBM) the first. */
static hwloc_obj_t node_of(hwloc_topology_t topology, hwloc_obj_t pu)
{
	hwloc_obj_t closest = NULL, node = NULL;

	while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node))) {
		if (!hwloc_bitmap_isset(node->cpuset, pu->os_index))
			continue;
		if (!closest ||
		    hwloc_bitmap_weight(node->cpuset) < hwloc_bitmap_weight(closest->cpuset))
			closest = node;
	}
	return closest ? closest : hwloc_get_root_obj(topology);
}

/* The outermost cache around the CPU: of the third level, mostly. None is known in some VMs. */
static hwloc_obj_t llc_of(hwloc_topology_t topology, hwloc_obj_t pu)
{
	hwloc_obj_t llc = NULL;

	for (hwloc_obj_t up = pu->parent; up; up = up->parent)
		if (hwloc_obj_type_is_dcache(up->type))
			llc = up;
	return llc ? llc : package_of(topology, pu);
}

static const struct kind {
	const char *name;
	hwloc_obj_t (*object)(hwloc_topology_t topology, hwloc_obj_t pu);
} kinds[IVL_PLACES_KINDS] = {
	[IVL_PLACES_ONE] = { "machine", machine_of },
	[IVL_PLACES_NUMA] = { "numa", node_of },
	[IVL_PLACES_PACKAGE] = { "package", package_of },
	[IVL_PLACES_LLC] = { "llc", llc_of },
};

static void group_name(struct group *group, enum ivl_places_by kind, unsigned int position)
{
	/* Nodes and packages have names of the OS; caches often have none. */
	bool has_number = group->object->os_index != HWLOC_UNKNOWN_INDEX &&
			  (group->object->type == HWLOC_OBJ_NUMANODE ||
			   group->object->type == HWLOC_OBJ_PACKAGE);

	if (kind == IVL_PLACES_ONE)
		snprintf(group->name, sizeof(group->name), "machine");
	else
		snprintf(group->name, sizeof(group->name), "%s-%u", kinds[kind].name,
			 has_number ? group->object->os_index : position);
}

/* Add the groups of one kind, of the CPUs in `within`, in the order of hwloc. */
static int groups_find(struct groups *groups, hwloc_topology_t topology, enum ivl_places_by kind,
		       hwloc_const_bitmap_t within)
{
	unsigned int begin = groups->count;
	hwloc_obj_t pu = NULL;

	while ((pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu))) {
		hwloc_obj_t object = kinds[kind].object(topology, pu);
		struct group *group = NULL;

		if (!hwloc_bitmap_isset(within, pu->os_index))
			continue;
		for (unsigned int i = begin; i < groups->count && !group; i++)
			if (groups->all[i].object == object)
				group = &groups->all[i];
		if (!group) {
			group = groups_add(groups);
			if (!group)
				return ENOMEM;
			group->object = object;
			group_name(group, kind, groups->count - 1 - begin);
		}
		if (hwloc_bitmap_set(group->cpus, pu->os_index))
			return ENOMEM;
	}
	return 0;
}

static int groups_parse(struct groups *groups, hwloc_topology_t topology,
			const struct ivl_config *config)
{
	hwloc_bitmap_t taken;
	int error = 0;

	if (!config->place_count || !config->place_cpus)
		return ivl_error(EINVAL, "no place is given: place_cpus is empty");
	taken = hwloc_bitmap_alloc();
	if (!taken)
		return ENOMEM;
	for (unsigned int i = 0; i < config->place_count && !error; i++) {
		struct group *group = groups_add(groups);

		if (!group) {
			error = ENOMEM;
			break;
		}
		snprintf(group->name, sizeof(group->name), "place-%u", i);
		error = ivl_cpus_parse(config->place_cpus[i], i,
				       hwloc_topology_get_topology_cpuset(topology), taken,
				       group->cpus);
		if (!error && hwloc_bitmap_or(taken, taken, group->cpus))
			error = ENOMEM;
	}
	hwloc_bitmap_free(taken);
	return error;
}

static int groups_union(const struct groups *groups, hwloc_bitmap_t cpus)
{
	hwloc_bitmap_zero(cpus);
	for (unsigned int i = 0; i < groups->count; i++)
		if (hwloc_bitmap_or(cpus, cpus, groups->all[i].cpus))
			return ENOMEM;
	return 0;
}

/* Does it hold at least two leaves, and none in part? */
static bool is_around_leaves(const struct group *group, const struct groups *leaves)
{
	unsigned int inside = 0;

	for (unsigned int i = 0; i < leaves->count; i++) {
		hwloc_bitmap_t leaf = leaves->all[i].cpus;

		if (hwloc_bitmap_isincluded(leaf, group->cpus))
			inside++;
		else if (hwloc_bitmap_intersects(leaf, group->cpus))
			return false;
	}
	return inside > 1;
}

static bool is_repeated(const struct groups *groups, unsigned int at)
{
	for (unsigned int i = 0; i < at; i++)
		if (hwloc_bitmap_isequal(groups->all[i].cpus, groups->all[at].cpus))
			return true;
	return false;
}

/* The groups around the leaves that differ from each other, the larger first. */
static int groups_around(struct groups *inner, hwloc_topology_t topology,
			 const struct groups *leaves, hwloc_const_bitmap_t within)
{
	static const enum ivl_places_by outermost_first[] = {
		IVL_PLACES_ONE, IVL_PLACES_PACKAGE, IVL_PLACES_NUMA, IVL_PLACES_LLC
	};
	unsigned int kept = 0;

	for (size_t i = 0; i < sizeof(outermost_first) / sizeof(*outermost_first); i++) {
		int error = groups_find(inner, topology, outermost_first[i], within);

		if (error)
			return error;
	}
	for (unsigned int i = 0; i < inner->count; i++) {
		struct group group = inner->all[i];
		unsigned int at = kept;

		if (!is_around_leaves(&group, leaves) || is_repeated(inner, i))
			continue;
		/* Swapping keeps all of them in the array, which frees them. */
		inner->all[i] = inner->all[kept];
		inner->all[kept++] = group;
		for (; at && hwloc_bitmap_weight(inner->all[at - 1].cpus) <
			     hwloc_bitmap_weight(group.cpus); at--) {
			inner->all[at] = inner->all[at - 1];
			inner->all[at - 1] = group;
		}
	}
	while (inner->count > kept)
		hwloc_bitmap_free(inner->all[--inner->count].cpus);
	return 0;
}

/*
 * The CPUs in the order in which workers are bound to them: the first hardware
 * thread of every core before any second one.
 */
static int place_cpus(struct ivl_place *place, hwloc_topology_t topology, const struct group *group)
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

/* The node of all CPUs of the group, -1 where they have not the same. */
static int group_node(hwloc_topology_t topology, const struct group *group)
{
	hwloc_obj_t pu = NULL, node = NULL;

	while ((pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu))) {
		if (!hwloc_bitmap_isset(group->cpus, pu->os_index))
			continue;
		if (node && node != node_of(topology, pu))
			return -1;
		node = node_of(topology, pu);
	}
	return node && node->type == HWLOC_OBJ_NUMANODE ? (int)node->os_index : -1;
}

static int place_init(struct ivl_place *place, unsigned int index, hwloc_topology_t topology,
		      const struct group *group)
{
	place->index = index;
	memcpy(place->name, group->name, sizeof(place->name));
	place->node = group_node(topology, group);
	return place_cpus(place, topology, group);
}

/*
 * One worker after the other to the place with the most CPUs per worker that it
 * has (the divisor method of Adams): each place has one before any has two, and
 * as many workers as CPUs come out as one per CPU. More workers than CPUs: the
 * same again.
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

/* Inner places are ordered by size, so the last of those around is the innermost. */
static void link_outer(struct ivl_topology *topology, const struct groups *leaves,
		       const struct groups *inner)
{
	for (unsigned int i = 0; i < topology->inner_count; i++) {
		for (unsigned int j = 0; j < i; j++)
			if (hwloc_bitmap_isincluded(inner->all[i].cpus, inner->all[j].cpus))
				topology->inner[i].outer = &topology->inner[j];
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
	}
}

static int places_init(struct ivl_place **places, unsigned int *count, bool leaves,
		       hwloc_topology_t hwloc, const struct groups *groups)
{
	int error = 0;

	if (!groups->count)
		return 0;
	*places = calloc(groups->count, sizeof(**places));
	if (!*places)
		return ENOMEM;
	*count = groups->count;
	for (unsigned int i = 0; i < groups->count && !error; i++)
		error = place_init(&(*places)[i], leaves ? i : INNER, hwloc, &groups->all[i]);
	return error;
}

static int build(struct ivl_topology *topology, hwloc_topology_t hwloc, const struct groups *leaves,
		 const struct groups *inner)
{
	int error = places_init(&topology->leaves, &topology->leaf_count, true, hwloc, leaves);

	if (!error)
		error = places_init(&topology->inner, &topology->inner_count, false, hwloc, inner);
	if (error)
		return error;
	topology->bindable = hwloc_topology_is_thissystem(hwloc);
	spread_workers(topology);
	link_outer(topology, leaves, inner);
	return 0;
}

/* A place without a worker would keep what is submitted there: there is none. */
static int limit_leaves(struct groups *leaves, const struct ivl_config *config,
			unsigned int workers)
{
	if (leaves->count <= workers)
		return 0;
	if (config->places == IVL_PLACES_GIVEN)
		return ivl_error(EINVAL, "%u places are given for %u workers: each needs one",
				 leaves->count, workers);
	while (leaves->count > workers)
		hwloc_bitmap_free(leaves->all[--leaves->count].cpus);
	return 0;
}

static int describe(struct ivl_topology *topology, const struct ivl_config *config,
		    hwloc_topology_t hwloc, hwloc_bitmap_t within)
{
	struct groups leaves = { NULL, 0 }, inner = { NULL, 0 };
	int error;

	if (config->places >= IVL_PLACES_KINDS)
		return ivl_error(EINVAL, "there is no kind %d of places", (int)config->places);
	if (config->places == IVL_PLACES_GIVEN)
		error = groups_parse(&leaves, hwloc, config);
	else
		error = groups_find(&leaves, hwloc, config->places,
				    hwloc_topology_get_topology_cpuset(hwloc));
	if (!error)
		error = groups_union(&leaves, within);
	if (!error) {
		topology->workers = config->workers ? config->workers :
					(unsigned int)hwloc_bitmap_weight(within);
		error = limit_leaves(&leaves, config, topology->workers);
	}
	if (!error)
		error = groups_union(&leaves, within);
	if (!error)
		error = groups_around(&inner, hwloc, &leaves, within);
	if (!error)
		error = build(topology, hwloc, &leaves, &inner);
	groups_free(&leaves);
	groups_free(&inner);
	return error;
}

/* Leave out the CPUs that the calling thread may not use. */
static int restrict_to_binding(hwloc_topology_t hwloc, hwloc_bitmap_t cpus)
{
	if (!hwloc_topology_is_thissystem(hwloc))
		return 0;
	if (hwloc_get_cpubind(hwloc, cpus, HWLOC_CPUBIND_THREAD) ||
	    hwloc_topology_restrict(hwloc, cpus, 0))
		return errno == ENOMEM ? ENOMEM :
		       ivl_error(EINVAL, "hwloc cannot say which CPUs this thread may use");
	return 0;
}

static int discover(hwloc_topology_t *hwloc, hwloc_bitmap_t cpus)
{
	int error;

	if (hwloc_topology_init(hwloc))
		return ENOMEM;
	/* Looking must not send the caller to every CPU in turn, and only the tree is of use. */
	if (hwloc_topology_set_flags(*hwloc, HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING |
				     HWLOC_TOPOLOGY_FLAG_NO_DISTANCES |
				     HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS |
				     HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS) ||
	    hwloc_topology_load(*hwloc))
		error = errno == ENOMEM ? ENOMEM :
			ivl_error(EINVAL, "hwloc finds no topology of this machine");
	else
		error = restrict_to_binding(*hwloc, cpus);
	if (error)
		hwloc_topology_destroy(*hwloc);
	return error;
}

int ivl_topology_create(const struct ivl_config *config, struct ivl_topology **topology)
{
	struct ivl_topology *new = calloc(1, sizeof(*new));
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
	hwloc_topology_t hwloc;
	int error = ENOMEM;

	if (new && cpus)
		error = discover(&hwloc, cpus);
	if (!error) {
		error = describe(new, config, hwloc, cpus);
		hwloc_topology_destroy(hwloc);
	}
	hwloc_bitmap_free(cpus);
	if (error)
		ivl_topology_destroy(new);
	else
		*topology = new;
	return error;
}

static void places_free(struct ivl_place *places, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		free(places[i].cpus);
	free(places);
}

void ivl_topology_destroy(struct ivl_topology *topology)
{
	if (!topology)
		return;
	places_free(topology->leaves, topology->leaf_count);
	places_free(topology->inner, topology->inner_count);
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

static bool is_inside(const struct ivl_place *place, const struct ivl_place *outer)
{
	while (place && place != outer)
		place = place->outer;
	return place;
}

unsigned int ivl_topology_distance(const struct ivl_place *a, const struct ivl_place *b)
{
	unsigned int steps = 0;

	for (; a && !is_inside(b, a); a = a->outer)
		steps++;
	return steps;
}

int ivl_pin(int cpu)
{
	size_t bytes;
	cpu_set_t *set;
	int error = 0;

	if (cpu < 0)
		return EINVAL;
	bytes = CPU_ALLOC_SIZE((size_t)cpu + 1);
	set = CPU_ALLOC((size_t)cpu + 1);
	if (!set)
		return ENOMEM;
	CPU_ZERO_S(bytes, set);
	CPU_SET_S((size_t)cpu, bytes, set);
	if (sched_setaffinity(0, bytes, set))
		error = errno;
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
