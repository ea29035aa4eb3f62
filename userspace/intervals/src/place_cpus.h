/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CPU list of one place: "0-3,8". */
#ifndef IVL_PLACE_CPUS_H
#define IVL_PLACE_CPUS_H

#include <hwloc.h>

/*
 * Add the CPUs of `list` to `cpus`, which is empty. EINVAL (with ivl_error()): not a list, empty,
 * or a CPU is not in `allowed` or is in `taken`, the lists before. ENOMEM.
 */
int ivl_cpus_parse(const char *list, unsigned int place, hwloc_const_bitmap_t allowed,
		   hwloc_const_bitmap_t taken, hwloc_bitmap_t cpus);

#endif
