/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The CPUs of one place as words: "0-3,8". */
#ifndef IVL_PLACE_CPUS_H
#define IVL_PLACE_CPUS_H

#include <hwloc.h>

/*
 * Add to `cpus`, which is empty, the CPUs of the list that is given for a place.
 * EINVAL (with ivl_error()): it is no list, it is empty, or it names a CPU that is not
 * in `allowed` or is in `taken`, the lists before. ENOMEM.
 */
int ivl_cpus_parse(const char *list, unsigned int place, hwloc_const_bitmap_t allowed,
		   hwloc_const_bitmap_t taken, hwloc_bitmap_t cpus);

#endif
