// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The serial program, but it loses every BROKEN_LOSES-th task, with 1 all of them, and the last
 * index of a loop or a sum, with 1 all of them: each kernel's check must find that.
 */
#include <stdbool.h>
#include <stddef.h>

static bool lost(void)
{
	static unsigned int made;

	return ++made % BROKEN_LOSES == 0;
}

static void call_or_lose(void (*function)(void *arg), void *arg)
{
	if (!lost())
		function(arg);
}

static size_t count_or_lose(size_t count)
{
	return BROKEN_LOSES > 1 && count ? count - 1 : 0;
}

#define SERIAL_CALL call_or_lose
#define SERIAL_COUNT count_or_lose
#include "runtimes/serial.c"
