/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A futex for tasks and threads: wait for a word in memory to change. Waiters are listed in the
 * word's hash bucket, not in the word, since the ABI's locks have four bytes.
 *
 *	waiter					changes the word
 *	into the bucket (its lock)		the new value
 *	full fence, in gomp_park()		full fence, in gomp_unpark_*()
 *	still(word)? then sleep			is the bucket empty? else its lock, and wake
 */
#ifndef GOMP_PARK_H
#define GOMP_PARK_H

#include <stdatomic.h>
#include <stdbool.h>

#include "env.h"

/* If still(word, arg), wait until the word is unparked, or spuriously. */
void gomp_park(const void *word, bool (*still)(const void *word, unsigned long arg),
	       unsigned long arg);
/* The same, exclusively: for a lock, or a turn. */
void gomp_park_for_lock(const void *word, bool (*still)(const void *word, unsigned long arg),
			unsigned long arg);
/* Wake the oldest waiter, or all. Any thread. */
void gomp_unpark_one(const void *word);
void gomp_unpark_all(const void *word);

/* Threads in regions. */
extern atomic_uint gomp_threads;

/* Do the threads in regions, and `more`, exceed the CPUs? */
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
 * How often the caller may yield the CPU before it sleeps: 0 for a while after a yield that took as
 * long as a time slice. Then a load beside the team has the CPU, and a yield gives it away.
 */
unsigned int gomp_yields(void);
/* Yield the CPU, as one of `left` times. Returns how many are left. */
unsigned int gomp_yield(unsigned int left);

/*
 * Poll before gomp_park(): most waits are short, unless the awaited thread needs this CPU, which a
 * yield gives it. The first polls do not read the number of threads, which other threads write.
 */
#define gomp_spin_while_with(condition, more) \
	do { \
		gomp_spin(condition, gomp_environment.spins_oversubscribed); \
		if (!(condition)) \
			break; \
		if (!gomp_oversubscribed(more)) \
			gomp_spin(condition, gomp_environment.spins); \
		else \
			for (unsigned int gomp_left = gomp_yields(); gomp_left && (condition);) \
				gomp_left = gomp_yield(gomp_left); \
	} while (0)

#define gomp_spin_while(condition) gomp_spin_while_with(condition, 0)

#endif
