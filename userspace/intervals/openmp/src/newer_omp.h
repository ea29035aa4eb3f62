/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of later compilers that GCC 12's omp.h lacks. */
#ifndef GOMP_NEWER_OMP_H
#define GOMP_NEWER_OMP_H

#include <omp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int omp_in_explicit_task(void);

/* On the host all memory is mapped to itself. */
void *omp_get_mapped_ptr(const void *pointer, int device);
int omp_target_is_accessible(const void *pointer, size_t bytes, int device);
void *omp_target_memset(void *memory, int value, size_t bytes, int device);
/* Each is a task that depends on `count` objects. */
int omp_target_memcpy_async(void *to, const void *from, size_t bytes, size_t to_offset,
			    size_t from_offset, int to_device, int from_device, int count,
			    omp_depend_t *objects);
int omp_target_memcpy_rect_async(void *to, const void *from, size_t element, int dimensions,
				 const size_t *volume, const size_t *to_offset,
				 const size_t *from_offset, const size_t *to_size,
				 const size_t *from_size, int to_device, int from_device,
				 int count, omp_depend_t *objects);
void *omp_target_memset_async(void *memory, int value, size_t bytes, int device, int count,
			      omp_depend_t *objects);
/* The host's is "OMP_INITIAL_DEVICE"; NULL: no such device. */
const char *omp_get_uid_from_device(int device);
/* omp_initial_device (-1), or omp_invalid_device (-4). */
int omp_get_device_from_uid(const char *uid);

/* For omp_interop_t; NULL: no text. */
const char *omp_get_interop_str(uintptr_t object, int property, int *code);
const char *omp_get_interop_name(uintptr_t object, int property);
const char *omp_get_interop_type_desc(uintptr_t object, int property);
const char *omp_get_interop_rc_desc(uintptr_t object, int code);

#endif
