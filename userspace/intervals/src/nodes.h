/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The NUMA nodes of this machine, as the kernel numbers them. */
#ifndef IVL_NODES_H
#define IVL_NODES_H

#include <stdbool.h>

/* More than any kernel for x86 has. */
#define IVL_MOST_NODES 1024

/* One more than the highest number on which this process may have memory; 1: nobody says. */
unsigned int ivl_node_count(void);
/* May it have memory on this one? Both say the same as long as the process lives. */
bool ivl_node_known(int node);

#endif
