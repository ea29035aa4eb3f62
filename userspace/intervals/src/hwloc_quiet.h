/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef IVL_HWLOC_QUIET_H
#define IVL_HWLOC_QUIET_H

#include <hwloc.h>
#include <unistd.h>

/*
 * Like hwloc_topology_init(). If sysfs does not show CPUs (chroot, sandbox), hwloc's Linux backend
 * finds nothing and complains on stderr. Without it hwloc finds the same silently. The program's
 * own hwloc calls are not affected.
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
