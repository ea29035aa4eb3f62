/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef IVL_HWLOC_QUIET_H
#define IVL_HWLOC_QUIET_H

#include <hwloc.h>
#include <unistd.h>

/*
 * As hwloc_topology_init(). Where sysfs does not show CPUs, as in a chroot or a sandbox, hwloc's
 * part for Linux finds nothing, and says so on the program's standard error. Without that part the
 * rest finds the same, and says nothing. A program's own calls of hwloc are not affected.
 */
static inline int ivl_topology_init(hwloc_topology_t *topology)
{
	const int error = hwloc_topology_init(topology);

	if (!error && access("/sys/bus/cpu/devices/cpu0/topology", X_OK) &&
	    access("/sys/devices/system/cpu/cpu0/topology", X_OK))
		hwloc_topology_set_components(*topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST,
					      "linux");
	return error;
}

#endif
