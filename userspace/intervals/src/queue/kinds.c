// SPDX-License-Identifier: GPL-2.0
#include "queue.h"

const struct ivl_queue_ops *const ivl_queue_kinds[IVL_QUEUES] = {
	[IVL_QUEUE_CHASE_LEV] = &ivl_chase_lev_ops,
};

const char *ivl_queue_name(enum ivl_queue queue)
{
	/* The comparison is unsigned: a negative number is too large. */
	return (unsigned int)queue < IVL_QUEUES && ivl_queue_kinds[queue] ?
	       ivl_queue_kinds[queue]->name : NULL;
}
