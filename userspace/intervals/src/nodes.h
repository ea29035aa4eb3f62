/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel's NUMA nodes. */
#ifndef IVL_NODES_H
#define IVL_NODES_H

#include <stdbool.h>

/* More than any x86 kernel has. */
#define IVL_MOST_NODES 1024

/* One more than the highest node with memory for this process; 1 if unknown. */
unsigned int ivl_node_count(void);
/* May the process have memory on it? Both answers stay the same while the process lives. */
bool ivl_node_known(int node);

#endif
