// SPDX-License-Identifier: GPL-2.0
/*
 * A parking lot: each waiter sleeps at a word of its own, in the order of arrival.
 * IN_ORDER: the lock is handed to the first one; else the first to come has it.
 */
#include <stdbool.h>

#include "locks.h"

struct parked {
	struct parked *next;
	atomic_uint sleeps;
};

struct lock {
	atomic_flag guard;
	bool taken;
	struct parked *first, **last;
};

const size_t lock_size = sizeof(struct lock);

void lock_init(struct lock *lock, const struct options *opt)
{
	(void)opt;
	atomic_flag_clear(&lock->guard);
	lock->last = &lock->first;
}

static void guard(struct lock *lock)
{
	while (atomic_flag_test_and_set_explicit(&lock->guard, memory_order_acquire))
		lock_pause();
}

static void unguard(struct lock *lock)
{
	atomic_flag_clear_explicit(&lock->guard, memory_order_release);
}

void lock_take(struct lock *lock, struct worker *w)
{
	(void)w;
	for (;;) {
		struct parked me = { .next = NULL };

		guard(lock);
		if (!lock->taken) {
			lock->taken = true;
			unguard(lock);
			return;
		}
		atomic_init(&me.sleeps, 1);
		*lock->last = &me;
		lock->last = &me.next;
		unguard(lock);
		while (atomic_load(&me.sleeps))
			lock_futex(&me.sleeps, FUTEX_WAIT, 1, 0);
		if (IN_ORDER)
			return;
	}
}

void lock_release(struct lock *lock, struct worker *w)
{
	struct parked *next;
	atomic_uint *word;

	(void)w;
	guard(lock);
	next = lock->first;
	lock->taken = IN_ORDER && next;
	if (next) {
		lock->first = next->next;
		if (!lock->first)
			lock->last = &lock->first;
	}
	unguard(lock);
	if (!next)
		return;
	/* Once it is zero `next` may be gone, and the word is an address that wakes for nothing. */
	word = &next->sleeps;
	atomic_store(word, 0);
	lock_futex(word, FUTEX_WAKE, 1, 0);
}
