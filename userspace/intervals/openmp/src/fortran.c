// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The procedures of Fortran's module omp_lib. gfortran appends an underscore to the name and passes
 * arguments by reference. A string's length is an extra argument, after the named ones. Procedures
 * with an integer or logical argument exist twice: NAME_8_ takes 8 bytes (-fdefault-integer-8).
 * Both return 4.
 */
#include <limits.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "gomp.h"
#include "newer_omp.h"

/* Saturates. Only 0 becomes 0, so it serves logicals, too. */
static int nearest(int64_t value)
{
	return value > INT_MAX ? INT_MAX : value < INT_MIN ? INT_MIN : (int)value;
}

#define FUNCTION(type, name) \
	GOMP_PUBLIC type name##_(void) \
	{ \
		return name(); \
	}

#define FUNCTION_OF_INT(type, name) \
	GOMP_PUBLIC type name##_(const int32_t *value) \
	{ \
		return name(*value); \
	} \
	GOMP_PUBLIC type name##_8_(const int64_t *value) \
	{ \
		return name(nearest(*value)); \
	}

GOMP_PUBLIC void omp_set_schedule_(const omp_sched_t *kind, const int32_t *chunk)
{
	omp_set_schedule(*kind, *chunk);
}

GOMP_PUBLIC void omp_set_schedule_8_(const omp_sched_t *kind, const int64_t *chunk)
{
	omp_set_schedule(*kind, nearest(*chunk));
}

GOMP_PUBLIC void omp_get_schedule_(omp_sched_t *kind, int32_t *chunk)
{
	omp_get_schedule(kind, chunk);
}

GOMP_PUBLIC void omp_get_schedule_8_(omp_sched_t *kind, int64_t *chunk)
{
	int narrow;

	omp_get_schedule(kind, &narrow);
	*chunk = narrow;
}

/* A lock fits into the variable (omp_lock_kind). */
static_assert(sizeof(omp_lock_t) == sizeof(int32_t), "gfortran's omp_lock_kind");

#define LOCK(type, name) \
	GOMP_PUBLIC type name##_(omp_lock_t *lock) \
	{ \
		return name(lock); \
	}

/* A nested lock does not: the variable (omp_nest_lock_kind, 8 bytes) has its address. */
static_assert(sizeof(omp_nest_lock_t *) <= sizeof(int64_t), "gfortran's omp_nest_lock_kind");

GOMP_PUBLIC void omp_init_nest_lock_(omp_nest_lock_t **lock)
{
	*lock = gomp_allocate(sizeof(**lock));
	omp_init_nest_lock(*lock);
}

GOMP_PUBLIC void omp_destroy_nest_lock_(omp_nest_lock_t **lock)
{
	omp_destroy_nest_lock(*lock);
	free(*lock);
	*lock = NULL;
}

#define NEST_LOCK(type, name) \
	GOMP_PUBLIC type name##_(omp_nest_lock_t **lock) \
	{ \
		return name(*lock); \
	}

/* Widen `count` ints in place to 8 bytes each, the last first. */
static void widen(int64_t *values, int count)
{
	for (int i = count; i-- > 0;) {
		int narrow;

		memcpy(&narrow, (const char *)values + (size_t)i * sizeof(narrow), sizeof(narrow));
		values[i] = narrow;
	}
}

GOMP_PUBLIC void omp_get_place_proc_ids_(const int32_t *place, int32_t *cpus)
{
	omp_get_place_proc_ids(*place, cpus);
}

GOMP_PUBLIC void omp_get_place_proc_ids_8_(const int64_t *place, int64_t *cpus)
{
	const int number = nearest(*place);

	omp_get_place_proc_ids(number, (int *)cpus);
	widen(cpus, omp_get_place_num_procs(number));
}

GOMP_PUBLIC void omp_get_partition_place_nums_(int32_t *places)
{
	omp_get_partition_place_nums(places);
}

GOMP_PUBLIC void omp_get_partition_place_nums_8_(int64_t *places)
{
	omp_get_partition_place_nums((int *)places);
	widen(places, omp_get_partition_num_places());
}

GOMP_PUBLIC int32_t omp_pause_resource_(const omp_pause_resource_t *kind, const int32_t *device)
{
	return omp_pause_resource(*kind, *device);
}

GOMP_PUBLIC int32_t omp_pause_resource_all_(const omp_pause_resource_t *kind)
{
	return omp_pause_resource_all(*kind);
}

GOMP_PUBLIC omp_allocator_handle_t omp_init_allocator_(const omp_memspace_handle_t *space,
						       const int32_t *count,
						       const omp_alloctrait_t *traits)
{
	return omp_init_allocator(*space, *count, traits);
}

GOMP_PUBLIC omp_allocator_handle_t omp_init_allocator_8_(const omp_memspace_handle_t *space,
							 const int64_t *count,
							 const omp_alloctrait_t *traits)
{
	return omp_init_allocator(*space, nearest(*count), traits);
}

GOMP_PUBLIC void omp_destroy_allocator_(const omp_allocator_handle_t *allocator)
{
	omp_destroy_allocator(*allocator);
}

GOMP_PUBLIC void omp_set_default_allocator_(const omp_allocator_handle_t *allocator)
{
	omp_set_default_allocator(*allocator);
}

/* By value, as in its interface. */
GOMP_PUBLIC void omp_fulfill_event_(omp_event_handle_t event)
{
	omp_fulfill_event(event);
}

/* Free it. */
static char *c_string(const char *text, size_t length)
{
	char *copy = gomp_allocate(length + 1);

	memcpy(copy, text, length);
	return copy;
}

/* Copies `text`, cut off or padded with blanks, and frees it. */
static void fill(char *buffer, size_t room, char *text)
{
	const size_t length = strnlen(text, room);

	memcpy(buffer, text, length);
	memset(buffer + length, ' ', room - length);
	free(text);
}

GOMP_PUBLIC void omp_set_affinity_format_(const char *format, size_t length)
{
	char *copy = c_string(format, length);

	omp_set_affinity_format(copy);
	free(copy);
}

GOMP_PUBLIC int32_t omp_get_affinity_format_(char *buffer, size_t room)
{
	char *text = gomp_allocate(room + 1);
	const size_t length = omp_get_affinity_format(text, room + 1);

	fill(buffer, room, text);
	return nearest((int64_t)length);
}

GOMP_PUBLIC void omp_display_affinity_(const char *format, size_t length)
{
	char *copy = c_string(format, length);

	omp_display_affinity(copy);
	free(copy);
}

GOMP_PUBLIC int32_t omp_capture_affinity_(char *buffer, const char *format, size_t room,
					  size_t format_length)
{
	char *copy = c_string(format, format_length);
	char *text = gomp_allocate(room + 1);
	const size_t length = omp_capture_affinity(text, room + 1, copy);

	fill(buffer, room, text);
	free(copy);
	return nearest((int64_t)length);
}

GOMP_PUBLIC int32_t omp_get_device_from_uid_(const char *uid, size_t length)
{
	char *copy = c_string(uid, length);
	const int device = omp_get_device_from_uid(copy);

	free(copy);
	return device;
}

/*
 * A function that returns text has two extra arguments first: where the text's address and its
 * length go. Named arguments are by value. NULL becomes a null pointer.
 */
static void return_text(const char **text, size_t *length, const char *value)
{
	*text = value;
	*length = value ? strlen(value) : 0;
}

GOMP_PUBLIC void omp_get_uid_from_device_(const char **text, size_t *length, int32_t device)
{
	return_text(text, length, omp_get_uid_from_device(device));
}

GOMP_PUBLIC void omp_get_uid_from_device_8_(const char **text, size_t *length, int64_t device)
{
	return_text(text, length, omp_get_uid_from_device(nearest(device)));
}

/* `code`: NULL if the call omits it. */
GOMP_PUBLIC void omp_get_interop_str_(const char **text, size_t *length, uintptr_t object,
				      int32_t property, int32_t *code)
{
	return_text(text, length, omp_get_interop_str(object, property, code));
}

#define TEXT(name) \
	GOMP_PUBLIC void name##_(const char **text, size_t *length, uintptr_t object, \
				 int32_t number) \
	{ \
		return_text(text, length, name(object, number)); \
	}

#include "names.def"
