/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Prefix sums of parts that several threads sum up. Two sums meet at each part: that of all parts
 * before it, and its own. The thread that brings the second adds them, which gives the sum before
 * the next part. So no thread waits.
 */
#ifndef IVL_PREFIX_H
#define IVL_PREFIX_H

#include <stdbool.h>

#include "atomics.h"

enum {
	IVL_PREFIX_NEITHER,
	IVL_PREFIX_ONE,
	IVL_PREFIX_BOTH,
	/* The two have been added. */
	IVL_PREFIX_ADDED,
};

/* Initially zero. */
struct ivl_prefix {
	_Atomic(int) met;
};

/* True: the caller is the second, sees both sums, and must add. Once per sum. */
static inline bool ivl_prefix_meet(struct ivl_prefix *part)
{
	/* Release: our sum; acquire: the other one. */
	return atomic_fetch_add_explicit(&part->met, 1, memory_order_acq_rel) == IVL_PREFIX_ONE;
}

/* Is the sum of all parts before this one known? By the thread that has the part. */
static inline bool ivl_prefix_ready(struct ivl_prefix *part)
{
	/* Acquire, from meet. */
	return atomic_load_explicit(&part->met, memory_order_acquire) == IVL_PREFIX_ONE;
}

/* By the thread that has added: the sum may be used. */
static inline void ivl_prefix_add(struct ivl_prefix *part)
{
	/* Release, to ivl_prefix_added(): both sums have been read. */
	atomic_store_explicit(&part->met, IVL_PREFIX_ADDED, memory_order_release);
}

/* Has the sum before the part been added, so that only the caller reads it? */
static inline bool ivl_prefix_added(struct ivl_prefix *part)
{
	return atomic_load_explicit(&part->met, memory_order_acquire) == IVL_PREFIX_ADDED;
}

#endif
