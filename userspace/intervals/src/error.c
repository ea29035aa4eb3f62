// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "scheduler.h"

static __thread char text[256];

/* Not inlined: the task may have changed its thread (worker.h). */
__attribute__((noinline)) int ivl_error(int error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return error;
}

__attribute__((noinline)) const char *ivl_last_error(void)
{
	return text;
}

/* The barrier keeps the compiler from treating two calls as one. */
__attribute__((noinline)) int ivl_errno(void)
{
	__asm__ volatile("" ::: "memory");
	return errno;
}

__attribute__((noinline)) void ivl_set_errno(int value)
{
	__asm__ volatile("" ::: "memory");
	errno = value;
}
