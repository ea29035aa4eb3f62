// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gomp.h"

void gomp_fatal(const char *format, ...)
{
	va_list arguments;

	fputs("libintervals-gomp: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(EXIT_FAILURE);
}

void *gomp_allocate(size_t bytes)
{
	void *memory = calloc(1, bytes);

	if (!memory)
		gomp_fatal("out of memory: %zu bytes", bytes);
	return memory;
}

void *gomp_allocate_aligned(size_t alignment, size_t bytes)
{
	void *memory;

	if (alignment < sizeof(void *))
		alignment = sizeof(void *);
	if (posix_memalign(&memory, alignment, bytes))
		gomp_fatal("out of memory: %zu bytes", bytes);
	return memory;
}

/* The directive `error` at run time, in GCC's words, which programs look for. */
static void encounter(const char *severity, const char *message, size_t length)
{
	if (message && length == SIZE_MAX)
		length = strlen(message);
	fprintf(stderr, "\nlibgomp: %serror directive encountered%s%.*s\n", severity,
		message ? ": " : "", message ? (int)length : 0, message ? message : "");
}

GOMP_PUBLIC void GOMP_warning(const char *message, size_t length)
{
	encounter("", message, length);
}

GOMP_PUBLIC void GOMP_error(const char *message, size_t length)
{
	encounter("fatal error: ", message, length);
	exit(EXIT_FAILURE);
}
