/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A context that waits until it is unparked, maybe before it waits. Used once. */
#ifndef IVL_PARKER_H
#define IVL_PARKER_H

#include <stdbool.h>
#include <stddef.h>

#include "atomics.h"
#include "scheduler.h"

struct ivl_parker {
	/* NULL, then the waiter or IVL_UNPARKED, or both in turn. */
	_Atomic(struct ivl_waiter *) waiter;
};

#define IVL_UNPARKED ((struct ivl_waiter *)1)

static inline void ivl_parker_init(struct ivl_parker *parker)
{
	atomic_init(&parker->waiter, NULL);
}

static inline bool ivl_parker_publish(void *arg, struct ivl_waiter *waiter)
{
	struct ivl_parker *parker = (struct ivl_parker *)arg;
	struct ivl_waiter *seen = NULL;

	/*
	 * Release, to unpark: the waiter's registers. Acquire on failure, from unpark. (C11 has no
	 * release with an acquire failure.)
	 */
	return atomic_compare_exchange_strong_explicit(&parker->waiter, &seen, waiter,
						       memory_order_acq_rel, memory_order_acquire);
}

/* Returns once unpark was called; what its caller wrote is visible. */
static inline void ivl_park(struct ivl_parker *parker)
{
	/* Acquire, from unpark: the fast path, without suspending. */
	if (atomic_load_explicit(&parker->waiter, memory_order_acquire) != IVL_UNPARKED)
		ivl_wait(ivl_parker_publish, parker);
}

/* The parker may be gone when this returns. */
static inline void ivl_unpark(struct ivl_parker *parker)
{
	/* Release and acquire, with both in publish. */
	struct ivl_waiter *waiter = atomic_exchange_explicit(&parker->waiter, IVL_UNPARKED,
							     memory_order_acq_rel);

	if (waiter)
		ivl_wake(waiter);
}

#endif
