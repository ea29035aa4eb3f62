// SPDX-License-Identifier: LGPL-2.1-or-later
/* omp_*() of devices and their memory: there is the host, number 0, and its memory. */
#include <errno.h>
#include <limits.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "env.h"

GOMP_PUBLIC int omp_get_num_devices(void)
{
	return 0;
}

GOMP_PUBLIC int omp_get_initial_device(void)
{
	return 0;
}

GOMP_PUBLIC int omp_get_device_num(void)
{
	return 0;
}

GOMP_PUBLIC int omp_is_initial_device(void)
{
	return 1;
}

GOMP_PUBLIC void omp_set_default_device(int device)
{
	gomp_icv_own(gomp_member()->task)->device = device >= 0 ? device : 0;
}

GOMP_PUBLIC int omp_get_default_device(void)
{
	return gomp_member()->task->icv->device;
}

static bool is_host(int device)
{
	/* -1: GCC's older name of the host. */
	return device == omp_get_initial_device() || device == -1;
}

GOMP_PUBLIC void *omp_target_alloc(size_t bytes, int device)
{
	return is_host(device) ? malloc(bytes) : NULL;
}

GOMP_PUBLIC void omp_target_free(void *memory, int device)
{
	if (is_host(device))
		free(memory);
}

GOMP_PUBLIC int omp_target_is_present(const void *pointer, int device)
{
	(void)pointer;
	return is_host(device);
}

GOMP_PUBLIC int omp_target_memcpy(void *to, const void *from, size_t bytes, size_t to_offset,
				  size_t from_offset, int to_device, int from_device)
{
	if (!is_host(to_device) || !is_host(from_device))
		return EINVAL;
	memcpy((char *)to + to_offset, (const char *)from + from_offset, bytes);
	return 0;
}

struct copy {
	size_t element;
	const size_t *volume, *to_offset, *from_offset, *to_size, *from_size;
};

/* The dimensions from `first` on; the innermost as one piece. */
static void copy_rest(const struct copy *copy, int first, int dimensions, char *to,
		      const char *from)
{
	size_t to_step = copy->element, from_step = copy->element;

	for (int i = first + 1; i < dimensions; i++) {
		to_step *= copy->to_size[i];
		from_step *= copy->from_size[i];
	}
	to += copy->to_offset[first] * to_step;
	from += copy->from_offset[first] * from_step;
	if (first + 1 == dimensions) {
		memcpy(to, from, copy->volume[first] * copy->element);
		return;
	}
	for (size_t i = 0; i < copy->volume[first]; i++)
		copy_rest(copy, first + 1, dimensions, to + i * to_step, from + i * from_step);
}

GOMP_PUBLIC int omp_target_memcpy_rect(void *to, const void *from, size_t element, int dimensions,
				       const size_t *volume, const size_t *to_offset,
				       const size_t *from_offset, const size_t *to_size,
				       const size_t *from_size, int to_device, int from_device)
{
	const struct copy copy = { element, volume, to_offset, from_offset, to_size, from_size };

	/* Without memory: how many dimensions there may be. */
	if (!to && !from)
		return INT_MAX;
	if (!is_host(to_device) || !is_host(from_device) || dimensions < 1)
		return EINVAL;
	copy_rest(&copy, 0, dimensions, to, from);
	return 0;
}

GOMP_PUBLIC int omp_target_associate_ptr(const void *host, const void *there, size_t bytes,
					 size_t offset, int device)
{
	(void)host, (void)there, (void)bytes, (void)offset, (void)device;
	return EINVAL;
}

GOMP_PUBLIC int omp_target_disassociate_ptr(const void *host, int device)
{
	(void)host, (void)device;
	return EINVAL;
}
