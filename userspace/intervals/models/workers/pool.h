/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The queues of workers: of the model, and of all kinds the same. */
#ifndef IVL_POOL_H
#define IVL_POOL_H

#include "queue.h"
#include "relacy_queue.hpp"

struct ivl_open_ring : ivl_model_queue {};

struct ivl_pool {
	struct ivl_open_ring queue;
};

inline bool ivl_chase_lev_try_put(struct ivl_open_ring *deque, void *element)
{
	deque->put(element);
	return true;
}

inline void *ivl_chase_lev_take(struct ivl_open_ring *deque)
{
	return deque->take_newest();
}

inline int ivl_pool_put(struct ivl_pool *pool, void *element)
{
	pool->queue.put(element);
	return 0;
}

inline void *ivl_pool_take(struct ivl_pool *pool)
{
	return pool->queue.take_newest();
}

inline enum ivl_steal ivl_pool_steal(struct ivl_pool *pool, void **element)
{
	*element = pool->queue.take_oldest();
	return *element ? IVL_STOLEN : IVL_EMPTY;
}

inline size_t ivl_pool_size(const struct ivl_pool *pool)
{
	return pool->queue.size();
}

#endif
