/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mix64 of Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014). */
#ifndef IVL_MIX_H
#define IVL_MIX_H

#include <stdint.h>

static inline uint64_t ivl_mix(uint64_t value)
{
	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
	value = (value ^ value >> 27) * 0x94d049bb133111eb;
	return value ^ value >> 31;
}

#endif
