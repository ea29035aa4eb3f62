// SPDX-License-Identifier: GPL-2.0
/* Preloaded into fast-calibrate: of its first BAD_WAKEUPS calls of FUTEX_WAKE none wakes anybody. */
#include <dlfcn.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static long bad, calls;
static long (*real)(long, ...);

__attribute__((constructor)) static void begin(void)
{
	bad = atol(getenv("BAD_WAKEUPS"));
	real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
}

long syscall(long number, ...)
{
	va_list list;
	long a[6], result;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	result = real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (number == SYS_futex && (a[1] & FUTEX_CMD_MASK) == FUTEX_WAKE &&
	    __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED) < bad)
		return 0;
	return result;
}
