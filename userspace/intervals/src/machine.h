/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * hwloc's topology of the machine. Loading it takes most of a millisecond, so the process keeps it
 * for its next runtime.
 */
#ifndef IVL_MACHINE_H
#define IVL_MACHINE_H

#include <hwloc.h>

/*
 * The topology, restricted to the CPUs that the calling thread may use, until ivl_machine_put(). It
 * must not be changed. EINVAL (with ivl_error()), ENOMEM.
 */
int ivl_machine_get(hwloc_topology_t *topology);
void ivl_machine_put(hwloc_topology_t topology);
/* In the child of a fork(), whatever other threads were doing. */
void ivl_machine_after_fork(void);

#endif
