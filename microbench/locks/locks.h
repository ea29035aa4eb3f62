/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Locks that wait in the kernel, of the forms that are in use. A form has the
 * three functions for its type `struct lock`; LOCK names the form.
 */
#ifndef MICROBENCH_LOCKS_H
#define MICROBENCH_LOCKS_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../common/bench.h"

/* So often a waiter looks before it sleeps, where its form has that. */
#define LOCK_SPINS 100

struct lock;

extern const size_t lock_size;
void lock_init(struct lock *lock, const struct options *opt);
/* `w` is the caller; at a barrier it waits for all of them. */
void lock_take(struct lock *lock, struct worker *w);
void lock_release(struct lock *lock, struct worker *w);

static inline long lock_futex(atomic_uint *word, int operation, unsigned int value,
			      unsigned int bits)
{
	return syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, bits);
}

static inline void lock_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

#endif
