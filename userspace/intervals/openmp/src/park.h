/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Waiting for a word in memory to change, by tasks and threads: what a futex is to threads alone.
 * Who waits is in a list of the word's bucket, not in the word: a lock has four bytes in the ABI.
 *
 *	waits					changes the word
 *	into the bucket (its lock)		the new value
 *	full fence, in gomp_park()		full fence, in gomp_unpark_*()
 *	still(word)? then sleep			is the bucket empty? else its lock, and wake
 */
#ifndef GOMP_PARK_H
#define GOMP_PARK_H

#include <stdatomic.h>
#include <stdbool.h>

#include "env.h"

/* Wait, if still(word, arg), until somebody unparks the word. It returns for no reason, too. */
void gomp_park(const void *word, bool (*still)(const void *word, unsigned long arg),
	       unsigned long arg);
/* As it, where no task may begin meanwhile in the thread: for a lock, or a turn. */
void gomp_park_for_lock(const void *word, bool (*still)(const void *word, unsigned long arg),
			unsigned long arg);
/* Who has waited longest for the word looks again; and all who wait for it. Any thread. */
void gomp_unpark_one(const void *word);
void gomp_unpark_all(const void *word);

/* In regions now. */
extern atomic_uint gomp_threads;

/* Are the threads that are in regions now, and `more` beside them, more than there are CPUs? */
static inline bool gomp_oversubscribed(unsigned int more)
{
	const unsigned int cpus = gomp_environment.cpus;
	/* Relaxed: a guess. */
	const unsigned int threads = atomic_load_explicit(&gomp_threads, memory_order_relaxed);

	return threads > cpus || more > cpus - threads;
}

#define gomp_spin(condition, spins) \
	do { \
		for (unsigned int gomp_left = (spins); (condition) && gomp_left; gomp_left--) \
			__builtin_ia32_pause(); \
	} while (0)

/*
 * Look before gomp_park(): what is waited for is mostly near, unless it is done by a thread that
 * waits for the CPU on which we look. At first without a look at how many threads there are, which
 * is in a line that others write.
 */
#define gomp_spin_while_with(condition, more) \
	do { \
		gomp_spin(condition, gomp_environment.spins_oversubscribed); \
		if ((condition) && !gomp_oversubscribed(more)) \
			gomp_spin(condition, gomp_environment.spins); \
	} while (0)

#define gomp_spin_while(condition) gomp_spin_while_with(condition, 0)

#endif
