/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef IVL_CLOCK_H
#define IVL_CLOCK_H

#include <stdint.h>
#include <time.h>

#define IVL_NS_PER_S 1000000000

static inline uint64_t ivl_ns(struct timespec time)
{
	return (uint64_t)time.tv_sec * IVL_NS_PER_S + (uint64_t)time.tv_nsec;
}

/* 0: the kernel lacks that clock. */
static inline uint64_t ivl_clock_ns(clockid_t clock)
{
	struct timespec now = { 0 };

	clock_gettime(clock, &now);
	return ivl_ns(now);
}

#endif
