// SPDX-License-Identifier: GPL-2.0
/* An MCS lock whose waiters sleep at words of their own. */
#include "../common/layout.h"
#include "locks.h"

enum { WAITS, SLEEPS, HAS };

struct node {
	struct node *_Atomic next;
	atomic_uint state;
};

struct lock {
	struct node *_Atomic last;
};

const size_t lock_size = sizeof(struct lock);

static struct padded nodes;

void lock_init(struct lock *lock, const struct options *opt)
{
	nodes = padded_alloc(opt->threads, sizeof(struct node), opt->line);
	atomic_init(&lock->last, NULL);
}

void lock_take(struct lock *lock, struct worker *w)
{
	struct node *me = padded_at(&nodes, w->id), *before;
	unsigned int waits = WAITS;

	atomic_store(&me->next, NULL);
	atomic_store(&me->state, WAITS);
	before = atomic_exchange(&lock->last, me);
	if (!before)
		return;
	atomic_store(&before->next, me);
	for (unsigned int i = 0; i < LOCK_SPINS; i++) {
		if (atomic_load(&me->state) == HAS)
			return;
		lock_pause();
	}
	if (!atomic_compare_exchange_strong(&me->state, &waits, SLEEPS))
		return;
	while (atomic_load(&me->state) == SLEEPS)
		lock_futex(&me->state, FUTEX_WAIT, SLEEPS, 0);
}

void lock_release(struct lock *lock, struct worker *w)
{
	struct node *me = padded_at(&nodes, w->id), *expected = me, *next;

	next = atomic_load(&me->next);
	if (!next && atomic_compare_exchange_strong(&lock->last, &expected, NULL))
		return;
	while (!next) {
		lock_pause();
		next = atomic_load(&me->next);
	}
	if (atomic_exchange(&next->state, HAS) == SLEEPS)
		lock_futex(&next->state, FUTEX_WAKE, 1, 0);
}
