// SPDX-License-Identifier: LGPL-2.1-or-later
/* Groups of CPUs that have the same hwloc object (NUMA node, package, ...). */
#include "place_groups.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler.h"

void ivl_groups_free(struct ivl_groups *groups)
{
	for (unsigned int i = 0; i < groups->count; i++)
		hwloc_bitmap_free(groups->all[i].cpus);
	free(groups->all);
}

/* NULL: ENOMEM. */
static struct ivl_cpu_group *groups_add(struct ivl_groups *groups)
{
	struct ivl_cpu_group *all = realloc(groups->all, (groups->count + 1) * sizeof(*all));
	struct ivl_cpu_group *group;

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

/* Grouping keys. A CPU without such an object gets an enclosing one. */
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

/* The closest node; of equally close ones (DRAM, HBM) the first. */
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

/* The outermost cache, mostly L3. Some VMs report none. */
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

static void group_name(struct ivl_cpu_group *group, enum ivl_places_by kind, unsigned int position)
{
	/* The kernel numbers nodes and packages; caches often have no number. */
	bool has_number = group->object->os_index != HWLOC_UNKNOWN_INDEX &&
			  (group->object->type == HWLOC_OBJ_NUMANODE ||
			   group->object->type == HWLOC_OBJ_PACKAGE);

	if (kind == IVL_PLACES_ONE)
		snprintf(group->name, sizeof(group->name), "machine");
	else
		snprintf(group->name, sizeof(group->name), "%s-%u", kinds[kind].name,
			 has_number ? group->object->os_index : position);
}

int ivl_groups_find(struct ivl_groups *groups, hwloc_topology_t topology, enum ivl_places_by kind,
		    hwloc_const_bitmap_t within)
{
	unsigned int begin = groups->count;
	hwloc_obj_t pu = NULL;

	while ((pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu))) {
		hwloc_obj_t object = kinds[kind].object(topology, pu);
		struct ivl_cpu_group *group = NULL;

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

/*
 * Given CPU lists, such as "0-3,8", strictly: hwloc's parser accepts garbage. `taken`: the CPUs of
 * the places before.
 */

/* Unlike strtoul(), without blanks and signs. False: no number, or beyond UINT_MAX. */
static bool read_number(const char **at, unsigned int *number)
{
	unsigned long value;
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;
	value = strtoul(*at, &end, 10);
	*at = end;
	*number = (unsigned int)value;
	return value <= UINT_MAX;
}

static int unknown_cpu(const char *list, unsigned int place, unsigned int cpu,
		       hwloc_const_bitmap_t allowed)
{
	char *known = NULL;

	if (hwloc_bitmap_list_asprintf(&known, allowed) < 0)
		return ENOMEM;
	ivl_error(EINVAL, "place %u: \"%s\": this process may not use CPU %u, only %s", place, list,
		  cpu, known);
	free(known);
	return EINVAL;
}

static int add_range(const char *list, unsigned int place, unsigned int first, unsigned int last,
		     hwloc_const_bitmap_t allowed, hwloc_const_bitmap_t taken, hwloc_bitmap_t cpus)
{
	/* Ends at the first unknown CPU, before it can wrap. */
	for (unsigned int cpu = first; cpu <= last; cpu++) {
		if (cpu > INT_MAX || !hwloc_bitmap_isset(allowed, cpu))
			return unknown_cpu(list, place, cpu, allowed);
		if (hwloc_bitmap_isset(taken, cpu))
			return ivl_error(EINVAL, "place %u: \"%s\": CPU %u is in another place too",
					 place, list, cpu);
		if (hwloc_bitmap_set(cpus, cpu))
			return ENOMEM;
	}
	return 0;
}

static int parse_cpus(const char *list, unsigned int place, hwloc_const_bitmap_t allowed,
		      hwloc_const_bitmap_t taken, hwloc_bitmap_t cpus)
{
	const char *at = list;

	if (!list || !*list)
		return ivl_error(EINVAL, "place %u: the list of CPUs is empty", place);
	for (;;) {
		unsigned int first, last;
		int error;

		if (!read_number(&at, &first))
			break;
		last = first;
		if (*at == '-') {
			at++;
			if (!read_number(&at, &last) || last < first)
				break;
		}
		error = add_range(list, place, first, last, allowed, taken, cpus);
		if (error || !*at)
			return error;
		if (*at++ != ',')
			break;
	}
	return ivl_error(EINVAL, "place %u: \"%s\" is not a list of CPUs such as \"0-3,8\"", place,
			 list);
}

int ivl_groups_parse(struct ivl_groups *groups, hwloc_topology_t topology,
		     const struct ivl_config *config)
{
	hwloc_bitmap_t taken;
	int error = 0;

	if (!config->place_count || !config->place_cpus)
		return ivl_error(EINVAL, "place_cpus is empty");
	taken = hwloc_bitmap_alloc();
	if (!taken)
		return ENOMEM;
	for (unsigned int i = 0; i < config->place_count && !error; i++) {
		struct ivl_cpu_group *group = groups_add(groups);

		if (!group) {
			error = ENOMEM;
			break;
		}
		snprintf(group->name, sizeof(group->name), "place-%u", i);
		error = parse_cpus(config->place_cpus[i], i,
				   hwloc_topology_get_topology_cpuset(topology), taken,
				   group->cpus);
		if (!error && hwloc_bitmap_or(taken, taken, group->cpus))
			error = ENOMEM;
	}
	hwloc_bitmap_free(taken);
	return error;
}

int ivl_groups_union(const struct ivl_groups *groups, hwloc_bitmap_t cpus)
{
	hwloc_bitmap_zero(cpus);
	for (unsigned int i = 0; i < groups->count; i++)
		if (hwloc_bitmap_or(cpus, cpus, groups->all[i].cpus))
			return ENOMEM;
	return 0;
}

/* Does it contain at least two leaves, and none in part? */
static bool is_around_leaves(const struct ivl_cpu_group *group, const struct ivl_groups *leaves)
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

static bool is_repeated(const struct ivl_groups *groups, unsigned int at)
{
	for (unsigned int i = 0; i < at; i++)
		if (hwloc_bitmap_isequal(groups->all[i].cpus, groups->all[at].cpus))
			return true;
	return false;
}

int ivl_groups_around(struct ivl_groups *inner, hwloc_topology_t topology,
		      const struct ivl_groups *leaves, hwloc_const_bitmap_t within)
{
	static const enum ivl_places_by outermost_first[] = {
		IVL_PLACES_ONE, IVL_PLACES_PACKAGE, IVL_PLACES_NUMA, IVL_PLACES_LLC
	};
	unsigned int kept = 0;

	for (size_t i = 0; i < sizeof(outermost_first) / sizeof(*outermost_first); i++) {
		int error = ivl_groups_find(inner, topology, outermost_first[i], within);

		if (error)
			return error;
	}
	for (unsigned int i = 0; i < inner->count; i++) {
		struct ivl_cpu_group group = inner->all[i];
		unsigned int at = kept;

		if (!is_around_leaves(&group, leaves) || is_repeated(inner, i))
			continue;
		/* Swap instead of overwriting: the array frees all of them. */
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

int ivl_group_node(hwloc_topology_t topology, const struct ivl_cpu_group *group)
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
