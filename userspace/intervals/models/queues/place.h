/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The part of src/place.h that queues need: memory whose objects end. */
#ifndef IVL_PLACE_H
#define IVL_PLACE_H

#include "queue_model.hpp"

inline void *ivl_node_alloc(size_t bytes, int)
{
	ivl_model_allocations++;
	return aligned_alloc(128, (bytes + 127) & ~(size_t)127);
}

inline void ivl_node_free(void *memory, size_t bytes, int)
{
	ivl_model_allocations--;
	ivl_model_end(memory, bytes);
	memset(memory, 0xdd, bytes < 4096 ? bytes : 4096);
	free(memory);
}

#endif
