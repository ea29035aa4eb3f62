/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Groups of CPUs, from which places are made. */
#ifndef IVL_PLACE_GROUPS_H
#define IVL_PLACE_GROUPS_H

#include <hwloc.h>

#include "place.h"

struct ivl_cpu_group {
	hwloc_obj_t object;		/* NULL: given by the program */
	hwloc_bitmap_t cpus;
	char name[sizeof(((struct ivl_place *)0)->name)];
};

struct ivl_groups {
	struct ivl_cpu_group *all;
	unsigned int count;
};

void ivl_groups_free(struct ivl_groups *groups);

/*
 * Add groups: of one kind, within `within`, in hwloc's order; as the configuration gives them
 * (EINVAL with ivl_error()); the distinct ones around the leaves, larger first. ENOMEM: some may
 * have been added.
 */
int ivl_groups_find(struct ivl_groups *groups, hwloc_topology_t topology, enum ivl_places_by kind,
		    hwloc_const_bitmap_t within);
int ivl_groups_parse(struct ivl_groups *groups, hwloc_topology_t topology,
		     const struct ivl_config *config);
int ivl_groups_around(struct ivl_groups *inner, hwloc_topology_t topology,
		      const struct ivl_groups *leaves, hwloc_const_bitmap_t within);

/* All CPUs of the groups; ENOMEM. */
int ivl_groups_union(const struct ivl_groups *groups, hwloc_bitmap_t cpus);

/* The node of the group's CPUs; -1: several. */
int ivl_group_node(hwloc_topology_t topology, const struct ivl_cpu_group *group);

#endif
