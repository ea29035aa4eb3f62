/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Prefix sums of parts that several threads sum up: at each part two meet, who knows the sum of
 * all before it, and who has the part's own. The second to come adds, and then knows the sum of
 * all before the next part. So nobody waits, and one addition follows the other.
 */
#ifndef IVL_PREFIX_H
#define IVL_PREFIX_H

#include <stdbool.h>

#include "atomics.h"

enum {
	IVL_PREFIX_NEITHER,
	IVL_PREFIX_ONE,
	IVL_PREFIX_BOTH,
	/* They are added. */
	IVL_PREFIX_ADDED,
};

/* Zeroed memory is one at which nobody has been. */
struct ivl_prefix {
	_Atomic(int) met;
};

/* True: the caller is the second, sees both sums, and is to add. Once for either. */
static inline bool ivl_prefix_meet(struct ivl_prefix *part)
{
	/* Release: our sum; acquire: the other one. */
	return atomic_fetch_add_explicit(&part->met, 1, memory_order_acq_rel) == IVL_PREFIX_ONE;
}

/* By who would have the part's own sum: is that of all before it known, and seen? */
static inline bool ivl_prefix_ready(struct ivl_prefix *part)
{
	/* Acquire, from the release in meet. */
	return atomic_load_explicit(&part->met, memory_order_acquire) == IVL_PREFIX_ONE;
}

/* By who has added: the sum can be used by whoever has the part. */
static inline void ivl_prefix_add(struct ivl_prefix *part)
{
	/* Release, to the acquire in added: both sums have been read. */
	atomic_store_explicit(&part->met, IVL_PREFIX_ADDED, memory_order_release);
}

/* Is the sum of all before the part known, and read for the last time but by the caller? */
static inline bool ivl_prefix_added(struct ivl_prefix *part)
{
	return atomic_load_explicit(&part->met, memory_order_acquire) == IVL_PREFIX_ADDED;
}

#endif
