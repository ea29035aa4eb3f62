/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CPU quota of the process's cgroup; hwloc knows only its cpuset. */
#ifndef IVL_CGROUP_H
#define IVL_CGROUP_H

/*
 * The CPUs' worth of time that the process may use, rounded up: the least quota of its cgroup and
 * the outer ones, version 1 or 2. 0: no quota. `root` is "" except in tests.
 */
unsigned int ivl_cgroup_cpus(const char *root);

#endif
