// SPDX-License-Identifier: GPL-2.0
/* A ticket lock whose waiters sleep: all at one word, each with its own bit of 32. */
#include "locks.h"

struct lock {
	atomic_uint next, serves;
	atomic_uint sleepers;
};

const size_t lock_size = sizeof(struct lock);

void lock_init(struct lock *lock, const struct options *opt)
{
	(void)opt;
	atomic_init(&lock->next, 0);
	atomic_init(&lock->serves, 0);
	atomic_init(&lock->sleepers, 0);
}

void lock_take(struct lock *lock, struct worker *w)
{
	unsigned int mine = atomic_fetch_add(&lock->next, 1), serves;

	(void)w;
	for (unsigned int i = 0; i < LOCK_SPINS; i++) {
		if (atomic_load(&lock->serves) == mine)
			return;
		lock_pause();
	}
	atomic_fetch_add(&lock->sleepers, 1);
	while ((serves = atomic_load(&lock->serves)) != mine)
		lock_futex(&lock->serves, FUTEX_WAIT_BITSET, serves, 1U << mine % 32);
	atomic_fetch_sub(&lock->sleepers, 1);
}

void lock_release(struct lock *lock, struct worker *w)
{
	unsigned int next = atomic_fetch_add(&lock->serves, 1) + 1;

	(void)w;
	if (atomic_load(&lock->sleepers))
		lock_futex(&lock->serves, FUTEX_WAKE_BITSET, INT32_MAX, 1U << next % 32);
}
