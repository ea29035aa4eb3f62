// SPDX-License-Identifier: GPL-2.0
/* A word of three states: free, taken, taken and waited for. */
#include "locks.h"

struct lock {
	atomic_uint state;
};

const size_t lock_size = sizeof(struct lock);

void lock_init(struct lock *lock, const struct options *opt)
{
	(void)opt;
	atomic_init(&lock->state, 0);
}

void lock_take(struct lock *lock, struct worker *w)
{
	unsigned int state = 0;

	(void)w;
	if (atomic_compare_exchange_strong(&lock->state, &state, 1))
		return;
	while (atomic_exchange(&lock->state, 2))
		lock_futex(&lock->state, FUTEX_WAIT, 2, 0);
}

void lock_release(struct lock *lock, struct worker *w)
{
	(void)w;
	if (atomic_exchange(&lock->state, 0) == 2)
		lock_futex(&lock->state, FUTEX_WAKE, 1, 0);
}
