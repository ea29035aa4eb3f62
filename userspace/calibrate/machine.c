// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <error.h>
#include <hwloc.h>
#include <stdio.h>

#include "machine.h"

static const hwloc_obj_type_t types[CACHES] = {
	[L1I] = HWLOC_OBJ_L1ICACHE,
	[L1D] = HWLOC_OBJ_L1CACHE,
	[L2] = HWLOC_OBJ_L2CACHE,
	[L3] = HWLOC_OBJ_L3CACHE,
};

/* The object of this type that contains the PU, or NULL. */
static hwloc_obj_t above(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_obj_t pu)
{
	/* An instruction cache is no ancestor of a PU, but a sibling of the data cache. */
	hwloc_obj_t object = NULL;

	while ((object = hwloc_get_next_obj_by_type(topology, type, object)))
		if (hwloc_bitmap_isset(object->cpuset, pu->os_index))
			return object;
	return NULL;
}

static struct cache look_at_cache(hwloc_obj_t object, hwloc_const_bitmap_t usable)
{
	struct cache cache = { 0 };
	hwloc_bitmap_t sharing;

	if (!object)
		return cache;
	sharing = hwloc_bitmap_alloc();
	hwloc_bitmap_and(sharing, object->cpuset, usable);
	cache.size = object->attr->cache.size;
	cache.ways = object->attr->cache.associativity;
	cache.line = object->attr->cache.linesize;
	cache.cpus = (unsigned int)hwloc_bitmap_weight(sharing);
	hwloc_bitmap_free(sharing);
	return cache;
}

/* The largest cache that CPUs may share: the L3, else the L2, else none. */
static hwloc_obj_t last_level(hwloc_topology_t topology, hwloc_obj_t pu)
{
	hwloc_obj_t l3 = above(topology, HWLOC_OBJ_L3CACHE, pu);

	return l3 ? l3 : above(topology, HWLOC_OBJ_L2CACHE, pu);
}

/* One CPU, and the first CPU near to it and far from it. */
static void choose_cpus(struct machine *machine, hwloc_topology_t topology,
			hwloc_const_bitmap_t usable)
{
	int first = hwloc_bitmap_first(usable), cpu;
	hwloc_obj_t pu = hwloc_get_pu_obj_by_os_index(topology, (unsigned int)first);
	hwloc_obj_t core = above(topology, HWLOC_OBJ_CORE, pu);
	hwloc_obj_t cache = last_level(topology, pu);

	machine->cpu = first;
	machine->sibling = NO_CPU;
	machine->stranger = NO_CPU;
	for (cpu = hwloc_bitmap_next(usable, first); cpu != -1;
	     cpu = hwloc_bitmap_next(usable, cpu)) {
		unsigned int index = (unsigned int)cpu;
		int *place = cache && hwloc_bitmap_isset(cache->cpuset, index) ?
			     &machine->sibling : &machine->stranger;

		/* A hyperthread of the same core shares more than another core would. */
		if (core && hwloc_bitmap_isset(core->cpuset, index))
			continue;
		if (*place == NO_CPU)
			*place = cpu;
	}
}

void machine_look(struct machine *machine)
{
	hwloc_topology_t topology = NULL;
	hwloc_bitmap_t usable = hwloc_bitmap_alloc();
	hwloc_obj_t pu;
	const char *name;

	*machine = (struct machine){ 0 };
	if (!usable || hwloc_topology_init(&topology) ||
	    hwloc_topology_set_icache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL) ||
	    hwloc_topology_load(topology) ||
	    hwloc_get_cpubind(topology, usable, HWLOC_CPUBIND_PROCESS))
		error(1, errno, "hwloc cannot tell what this machine is like; is /sys mounted?");
	machine->cpus = (unsigned int)hwloc_bitmap_weight(usable);
	choose_cpus(machine, topology, usable);
	pu = hwloc_get_pu_obj_by_os_index(topology, (unsigned int)machine->cpu);
	for (unsigned int i = 0; i < CACHES; i++)
		machine->caches[i] = look_at_cache(above(topology, types[i], pu), usable);
	machine->memory = hwloc_get_root_obj(topology)->total_memory;
	name = hwloc_obj_get_info_by_name(above(topology, HWLOC_OBJ_PACKAGE, pu) ?:
					  hwloc_get_root_obj(topology), "CPUModel");
	if (name)
		snprintf(machine->cpu_name, sizeof(machine->cpu_name), "%s", name);
	hwloc_topology_destroy(topology);
	hwloc_bitmap_free(usable);
}
