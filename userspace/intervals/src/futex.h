/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Process-private futex calls, on 32-bit words or the upper half of 64-bit ones. Included in angle
 * brackets: the models replace this file.
 */
#ifndef IVL_FUTEX_H
#define IVL_FUTEX_H

#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"

static inline const void *ivl_futex_upper(const void *word64)
{
	return (const uint32_t *)word64 + (__BYTE_ORDER == __LITTLE_ENDIAN);
}

/* Sleep while the word is `value`; may return spuriously. */
static inline void ivl_futex_wait(const void *word, uint32_t value)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

/* The same with a deadline of CLOCK_MONOTONIC. */
static inline void ivl_futex_wait_until(const void *word, uint32_t value, uint64_t ns)
{
	const struct timespec time = { .tv_sec = (time_t)(ns / IVL_NS_PER_S),
				       .tv_nsec = (long)(ns % IVL_NS_PER_S) };

	syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, value, &time, NULL,
		FUTEX_BITSET_MATCH_ANY);
}

/* Sleepers on a word are in 32 groups, a bit each; one call wakes whole groups. */
static inline void ivl_futex_wait_in(const void *word, uint32_t value, uint32_t group)
{
	syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, value, NULL, NULL, group);
}

static inline void ivl_futex_wake_all_in(const void *word, uint32_t groups)
{
	syscall(SYS_futex, word, FUTEX_WAKE_BITSET_PRIVATE, INT_MAX, NULL, NULL, groups);
}

/* Is ivl_futex_wait_either() available? Linux has it since 5.16; a sandbox may forbid it. */
static inline bool ivl_futex_has_either(void)
{
	return syscall(SYS_futex_waitv, NULL, 0, 0, NULL, 0) < 0 && errno == EINVAL;
}

/* Sleep while both words have their values; may return spuriously. */
static inline void ivl_futex_wait_either(const void *word, uint32_t value, const void *other,
					 uint32_t other_value)
{
	const struct futex_waitv both[] = {
		{ .val = value, .uaddr = (uintptr_t)word, .flags = FUTEX_32 | FUTEX_PRIVATE_FLAG },
		{ .val = other_value, .uaddr = (uintptr_t)other,
		  .flags = FUTEX_32 | FUTEX_PRIVATE_FLAG },
	};

	syscall(SYS_futex_waitv, both, 2, 0, NULL, 0);
}

/*
 * Wake up to `count` sleepers. A call that wakes exactly one is a hand-off: a kernel with FAST lets
 * the woken thread follow the caller.
 */
static inline void ivl_futex_wake(const void *word, unsigned int count)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count < INT_MAX ? count : INT_MAX, NULL, NULL,
		0);
}

/*
 * Wake one sleeper to run beside the caller. A requeue that moves no thread is not a hand-off, so
 * the kernel looks for an idle CPU.
 */
static inline void ivl_futex_wake_beside(const void *word)
{
	syscall(SYS_futex, word, FUTEX_REQUEUE_PRIVATE, 1, 0UL, word, 0);
}

#endif
