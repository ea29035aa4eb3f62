// SPDX-License-Identifier: LGPL-2.1-or-later
#include "queue.h"

const struct ivl_queue_ops *const ivl_queue_kinds[IVL_QUEUES] = {
	[IVL_QUEUE_CHASE_LEV] = &ivl_chase_lev_ops,
	[IVL_QUEUE_LAZY] = &ivl_lazy_ops,
	[IVL_QUEUE_IDEMPOTENT_LIFO] = &ivl_idempotent_lifo_ops,
	[IVL_QUEUE_IDEMPOTENT_FIFO] = &ivl_idempotent_fifo_ops,
	[IVL_QUEUE_IDEMPOTENT_DEQUE] = &ivl_idempotent_deque_ops,
	[IVL_QUEUE_DYNAMIC] = &ivl_dynamic_ops,
	[IVL_QUEUE_DUPLICATING] = &ivl_duplicating_ops,
	[IVL_QUEUE_SHARED] = &ivl_shared_ops,
};

const char *ivl_queue_name(enum ivl_queue queue)
{
	/* Unsigned: rejects negative numbers. */
	return (unsigned int)queue < IVL_QUEUES ? ivl_queue_kinds[queue]->name : NULL;
}
