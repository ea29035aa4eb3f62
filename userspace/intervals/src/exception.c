// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * C++ exceptions. One that leaves the body of an interval ends there: it is caught by
 * ivl_call_body() in switch.S, of which this file has the personality, that is, what the
 * unwinder of the C++ ABI for Itanium, which all use, asks about a frame.
 *
 * And which exceptions are being handled, or thrown, belongs to the fiber; the C++ library
 * keeps it with the thread. A program without C++ has no such library, and no such symbols.
 */
#include "exception.h"

#include <errno.h>
#include <stdint.h>
#include <unwind.h>

void *__cxa_get_globals(void) __attribute__((weak));
void *__cxa_begin_catch(void *exception) __attribute__((weak));
void __cxa_end_catch(void) __attribute__((weak));

extern const char ivl_body_threw[] __attribute__((visibility("hidden")));
_Unwind_Reason_Code ivl_personality(int version, _Unwind_Action actions, uint64_t class,
				    struct _Unwind_Exception *exception,
				    struct _Unwind_Context *context)
	__attribute__((visibility("hidden")));
int ivl_caught(void *exception) __attribute__((visibility("hidden")));

struct ivl_exceptions *ivl_exceptions_of_thread(void)
{
	return __cxa_get_globals ? __cxa_get_globals() : NULL;
}

_Unwind_Reason_Code ivl_personality(int version, _Unwind_Action actions, uint64_t class,
				    struct _Unwind_Exception *exception,
				    struct _Unwind_Context *context)
{
	(void)version;
	(void)class;
	/* A thread that exits is not stopped here. */
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
	if (__cxa_begin_catch && __cxa_end_catch) {
		__cxa_begin_catch(exception);
		__cxa_end_catch();
	} else {
		_Unwind_DeleteException(exception);
	}
	return ENOTRECOVERABLE;
}
