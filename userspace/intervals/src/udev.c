// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A separate library, linked after hwloc's, for static programs. hwloc's static library refers to
 * libudev for the names of disks, which are not used here, and Debian has no static libudev. A
 * program with the shared libudev gets the real functions.
 */
#include <dlfcn.h>
#include <stddef.h>

#define UDEV_FUNCTION(result, name, parameters, arguments) \
	__attribute__((weak)) result name parameters; \
	result name parameters \
	{ \
		result (*const real) parameters = (result (*) parameters)dlsym(RTLD_NEXT, #name); \
		\
		return real ? real arguments : NULL; \
	}

UDEV_FUNCTION(void *, udev_new, (void), ())
UDEV_FUNCTION(void *, udev_unref, (void *udev), (udev))
UDEV_FUNCTION(void *, udev_device_new_from_subsystem_sysname,
	      (void *udev, const char *subsystem, const char *sysname), (udev, subsystem, sysname))
UDEV_FUNCTION(const char *, udev_device_get_property_value, (void *device, const char *key),
	      (device, key))
UDEV_FUNCTION(void *, udev_device_unref, (void *device), (device))
