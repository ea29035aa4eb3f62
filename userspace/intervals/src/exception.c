// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * C++ exceptions. An exception that leaves the body of an interval is caught by ivl_call_body() in
 * switch.S. Its personality routine, which the unwinder asks about the frame, is here (C++ ABI for
 * Itanium).
 *
 * The C++ library keeps the exceptions being handled per thread, but they belong to the fiber. A C
 * program without a C++ library lacks these symbols. One that loads C++ code may have them where
 * dlsym() does not look (RTLD_LOCAL).
 */
#include "exception.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unwind.h>

void *__cxa_get_globals(void) __attribute__((weak));
void *__cxa_begin_catch(void *exception) __attribute__((weak));
void __cxa_end_catch(void) __attribute__((weak));

/* Of the C++ library; never unloaded once found. */
static struct {
	_Atomic(void *(*)(void)) get_globals;
	_Atomic(void *(*)(void *exception)) begin_catch;
	_Atomic(void (*)(void)) end_catch;
} cxx = { __cxa_get_globals, __cxa_begin_catch, __cxa_end_catch };

extern const char ivl_body_threw[] __attribute__((visibility("hidden")));
_Unwind_Reason_Code ivl_personality(int version, _Unwind_Action actions, uint64_t class,
				    struct _Unwind_Exception *exception,
				    struct _Unwind_Context *context)
	__attribute__((visibility("hidden")));
int ivl_caught(void *exception) __attribute__((visibility("hidden")));

static int is_cxx_library(struct dl_phdr_info *info, size_t bytes, void *path)
{
	const char *slash = strrchr(info->dlpi_name, '/');
	const char *name = slash ? slash + 1 : info->dlpi_name;

	(void)bytes;
	if (strncmp(name, "libstdc++.so", strlen("libstdc++.so")) &&
	    strncmp(name, "libc++abi.so", strlen("libc++abi.so")))
		return 0;
	return snprintf(path, PATH_MAX, "%s", info->dlpi_name) < PATH_MAX;
}

static void find_library(void)
{
	char path[PATH_MAX];
	void *library, *get_globals;

	if (cxx.get_globals || !dl_iterate_phdr(is_cxx_library, path))
		return;
	/* Keeps the library loaded. */
	library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	get_globals = library ? dlsym(library, "__cxa_get_globals") : NULL;
	if (!get_globals)
		return;
	cxx.begin_catch = (void *(*)(void *))dlsym(library, "__cxa_begin_catch");
	cxx.end_catch = (void (*)(void))dlsym(library, "__cxa_end_catch");
	cxx.get_globals = (void *(*)(void))get_globals;
}

void ivl_exceptions_find(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&lock);
	find_library();
	pthread_mutex_unlock(&lock);
}

struct ivl_exceptions *ivl_exceptions_of_thread(void)
{
	return cxx.get_globals ? cxx.get_globals() : NULL;
}

_Unwind_Reason_Code ivl_personality(int version, _Unwind_Action actions, uint64_t class,
				    struct _Unwind_Exception *exception,
				    struct _Unwind_Context *context)
{
	(void)version;
	(void)class;
	/* pthread_exit() passes through. */
	if (actions & _UA_FORCE_UNWIND)
		return _URC_CONTINUE_UNWIND;
	if (actions & _UA_SEARCH_PHASE)
		return _URC_HANDLER_FOUND;
	_Unwind_SetGR(context, __builtin_eh_return_data_regno(0), (uintptr_t)exception);
	_Unwind_SetIP(context, (uintptr_t)ivl_body_threw);
	return _URC_INSTALL_CONTEXT;
}

int ivl_caught(void *exception)
{
	if (cxx.begin_catch && cxx.end_catch) {
		cxx.begin_catch(exception);
		cxx.end_catch();
	} else {
		_Unwind_DeleteException(exception);
	}
	return ENOTRECOVERABLE;
}
