/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fences. ThreadSanitizer does not see them: they may order atomic variables, but not plain data.
 */
#ifndef IVL_FENCE_H
#define IVL_FENCE_H

#include "atomics.h"

#if defined(__SANITIZE_THREAD__) && !defined(IVL_MODEL)
/* GCC warns of that. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
static inline void ivl_fence(memory_order order)
{
	atomic_thread_fence(order);
}
#pragma GCC diagnostic pop
#else
#define ivl_fence(...) atomic_thread_fence(__VA_ARGS__)
#endif

#endif
