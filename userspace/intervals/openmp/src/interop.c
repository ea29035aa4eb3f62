// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The interop construct, which shares a device between OpenMP and the device's language. The host
 * has none: each object is omp_interop_none, without properties. Types are as later versions of
 * omp.h pass them.
 */
#include "gomp.h"
#include "newer_omp.h"

enum { INTEROP_NOWAIT = 1 << 0 };

typedef uintptr_t interop;

/* omp_interop_rc_t; meanings go down from NO_VALUE. */
enum { NO_VALUE = 1, EMPTY = -1, OUT_OF_RANGE = -2 };
static const char *const meanings[] = {
	"there is no value", "success", "the object is omp_interop_none",
	"there is no property of this number", "the property is an integer: omp_get_interop_int()",
	"the property is a pointer: omp_get_interop_ptr()",
	"the property is a string: omp_get_interop_str()",
};

/* omp_interop_property_t, from -1 down. */
static const char *const properties[] = {
	"fr_id", "fr_name", "vendor", "vendor_name", "device_num", "platform", "device",
	"device_context", "targetsync",
};

#define COUNT(array) ((int)(sizeof(array) / sizeof(*(array))))

void GOMP_taskwait_depend(void **depend);
void GOMP_taskwait_depend_nowait(void **depend);

GOMP_PUBLIC void GOMP_interop(int device, int made_count, interop **made, const void *kinds,
			      const void *preferred, int used_count, interop **used,
			      int ended_count, interop **ended, unsigned int flags, void **depend)
{
	(void)device, (void)kinds, (void)preferred, (void)used_count, (void)used;
	for (int i = 0; i < made_count; i++)
		*made[i] = 0;
	for (int i = 0; i < ended_count; i++)
		*ended[i] = 0;
	if (depend && flags & INTEROP_NOWAIT)
		GOMP_taskwait_depend_nowait(depend);
	else if (depend)
		GOMP_taskwait_depend(depend);
}

GOMP_PUBLIC int omp_get_num_interop_properties(interop object)
{
	(void)object;
	/* Beyond the standard's. */
	return 0;
}

static bool is_property(int property)
{
	return property < 0 && property >= -COUNT(properties);
}

static void refuse(int property, int *code)
{
	if (code)
		*code = is_property(property) ? EMPTY : OUT_OF_RANGE;
}

GOMP_PUBLIC intptr_t omp_get_interop_int(interop object, int property, int *code)
{
	(void)object;
	refuse(property, code);
	return 0;
}

GOMP_PUBLIC void *omp_get_interop_ptr(interop object, int property, int *code)
{
	(void)object;
	refuse(property, code);
	return NULL;
}

GOMP_PUBLIC const char *omp_get_interop_str(interop object, int property, int *code)
{
	(void)object;
	refuse(property, code);
	return NULL;
}

GOMP_PUBLIC const char *omp_get_interop_name(interop object, int property)
{
	(void)object;
	return is_property(property) ? properties[-1 - property] : NULL;
}

GOMP_PUBLIC const char *omp_get_interop_type_desc(interop object, int property)
{
	(void)object, (void)property;
	return NULL;
}

GOMP_PUBLIC const char *omp_get_interop_rc_desc(interop object, int code)
{
	(void)object;
	return code <= NO_VALUE && code > NO_VALUE - COUNT(meanings) ? meanings[NO_VALUE - code] :
								      NULL;
}
