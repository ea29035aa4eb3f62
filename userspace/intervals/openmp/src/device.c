// SPDX-License-Identifier: LGPL-2.1-or-later
/* omp_*() for devices and their memory. The host is the only device, number 0. */
#include <errno.h>
#include <limits.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "env.h"
#include "newer_omp.h"
#include "task.h"

GOMP_QUERY(omp_get_num_devices, 0)
GOMP_QUERY(omp_get_initial_device, 0)
GOMP_QUERY(omp_get_device_num, 0)
GOMP_QUERY(omp_is_initial_device, 1)

GOMP_PUBLIC void omp_set_default_device(int device)
{
	gomp_icv_own(gomp_member()->task)->device = device >= 0 ? device : 0;
}

GOMP_QUERY(omp_get_default_device, gomp_member()->task->icv->device)

/* From later versions of omp.h. INITIAL_DEVICE is the host, too. */
enum { INITIAL_DEVICE = -1, INVALID_DEVICE = -4, DEFAULT_DEVICE = -5 };

static bool is_host(int device)
{
	if (device == DEFAULT_DEVICE)
		device = omp_get_default_device();
	return device == omp_get_initial_device() || device == INITIAL_DEVICE;
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

GOMP_PUBLIC void *omp_get_mapped_ptr(const void *pointer, int device)
{
	return is_host(device) ? (void *)pointer : NULL;
}

GOMP_PUBLIC int omp_target_is_accessible(const void *pointer, size_t bytes, int device)
{
	return pointer && bytes && is_host(device);
}

#define HOST_UID "OMP_INITIAL_DEVICE"

GOMP_PUBLIC const char *omp_get_uid_from_device(int device)
{
	return is_host(device) ? HOST_UID : NULL;
}

GOMP_PUBLIC int omp_get_device_from_uid(const char *uid)
{
	return uid && !strcmp(uid, HOST_UID) ? INITIAL_DEVICE : INVALID_DEVICE;
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

/* Copies the dimensions from `first` on; the innermost at once. */
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

	/* Without memory: ask for the largest number of dimensions. */
	if (!to && !from)
		return INT_MAX;
	if (!is_host(to_device) || !is_host(from_device) || dimensions < 1)
		return EINVAL;
	copy_rest(&copy, 0, dimensions, to, from);
	return 0;
}

GOMP_PUBLIC void *omp_target_memset(void *memory, int value, size_t bytes, int device)
{
	if (is_host(device))
		memset(memory, value, bytes);
	return memory;
}

/* Asynchronous copies are tasks. */

/* In the ABI's form: only omp_depend_t objects. */
#define OBJECTS_AT 5

static void run_later(void (*function)(void *), void *data, size_t bytes, size_t alignment,
		      int count, omp_depend_t *objects)
{
	const size_t all = objects && count > 0 ? (size_t)count : 0;
	struct order order = { .function = function, .data = data, .bytes = bytes,
			       .alignment = alignment, .flags = all ? TASK_DEPEND : 0 };
	void **depend = all ? gomp_allocate((all + OBJECTS_AT) * sizeof(*depend)) : NULL;

	for (size_t i = 0; i < all; i++)
		depend[OBJECTS_AT + i] = &objects[i];
	if (all)
		depend[1] = (void *)(uintptr_t)all;
	order.depend = depend;
	gomp_task_create(gomp_member(), &order);
	free(depend);
}

struct piece {
	void *to;
	const void *from;
	size_t bytes;
	int value;
};

static void copy_piece(void *data)
{
	const struct piece *piece = data;

	memcpy(piece->to, piece->from, piece->bytes);
}

static void set_piece(void *data)
{
	const struct piece *piece = data;

	memset(piece->to, piece->value, piece->bytes);
}

GOMP_PUBLIC int omp_target_memcpy_async(void *to, const void *from, size_t bytes, size_t to_offset,
					size_t from_offset, int to_device, int from_device,
					int count, omp_depend_t *objects)
{
	struct piece piece = { .to = (char *)to + to_offset,
			       .from = (const char *)from + from_offset, .bytes = bytes };

	if (!is_host(to_device) || !is_host(from_device))
		return EINVAL;
	run_later(copy_piece, &piece, sizeof(piece), _Alignof(struct piece), count, objects);
	return 0;
}

GOMP_PUBLIC void *omp_target_memset_async(void *memory, int value, size_t bytes, int device,
					  int count, omp_depend_t *objects)
{
	struct piece piece = { .to = memory, .value = value, .bytes = bytes };

	if (is_host(device))
		run_later(set_piece, &piece, sizeof(piece), _Alignof(struct piece), count,
			  objects);
	return memory;
}

/* The arrays are the caller's, which may continue: copies of them follow each other. */
struct box {
	void *to;
	const void *from;
	size_t element;
	int dimensions;
	size_t sizes[];
};

static void copy_box(void *data)
{
	const struct box *box = data;
	const size_t *sizes = box->sizes, n = (size_t)box->dimensions;
	const struct copy copy = { box->element, sizes, sizes + n, sizes + 2 * n, sizes + 3 * n,
				   sizes + 4 * n };

	copy_rest(&copy, 0, box->dimensions, box->to, box->from);
}

GOMP_PUBLIC int omp_target_memcpy_rect_async(void *to, const void *from, size_t element,
					     int dimensions, const size_t *volume,
					     const size_t *to_offset, const size_t *from_offset,
					     const size_t *to_size, const size_t *from_size,
					     int to_device, int from_device, int count,
					     omp_depend_t *objects)
{
	const size_t *const arrays[] = { volume, to_offset, from_offset, to_size, from_size };
	const size_t n = (size_t)dimensions;
	struct box *box;
	size_t bytes;

	if (!to && !from)
		return INT_MAX;
	if (!is_host(to_device) || !is_host(from_device) || dimensions < 1)
		return EINVAL;
	bytes = sizeof(*box) + 5 * n * sizeof(size_t);
	box = gomp_allocate(bytes);
	*box = (struct box){ to, from, element, dimensions };
	for (size_t i = 0; i < 5; i++)
		memcpy(box->sizes + i * n, arrays[i], n * sizeof(size_t));
	run_later(copy_box, box, bytes, _Alignof(struct box), count, objects);
	free(box);
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
