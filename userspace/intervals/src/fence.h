/* SPDX-License-Identifier: GPL-2.0 */
/* Fences. ThreadSanitizer does not see them: what it runs must not need one for data. */
#ifndef IVL_FENCE_H
#define IVL_FENCE_H

#include "atomics.h"

#define ivl_fence(...) atomic_thread_fence(__VA_ARGS__)

#endif
