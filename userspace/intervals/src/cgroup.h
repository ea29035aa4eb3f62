/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the cgroup of the process lets it have of the machine's CPUs; hwloc knows its cpuset only. */
#ifndef IVL_CGROUP_H
#define IVL_CGROUP_H

/*
 * So many CPUs' time the process may use, rounded up: the least quota of its cgroup and those around
 * it, of version 1 or 2. 0: there is no quota. `root`: where the file system is, "" but in tests.
 */
unsigned int ivl_cgroup_cpus(const char *root);

#endif
