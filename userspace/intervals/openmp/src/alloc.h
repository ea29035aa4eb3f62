/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GOMP_ALLOC_H
#define GOMP_ALLOC_H

#include <stdint.h>

/* OMP_ALLOCATOR; NULL: not set. */
uintptr_t gomp_allocator_parse(const char *word);
/* Of a predefined allocator. */
const char *gomp_allocator_name(uintptr_t handle);

#endif
