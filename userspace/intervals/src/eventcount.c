// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The word, epoch and waiters, changes only by read-modify-writes, so its order is total. A sleeper
 * and a waker meet in one of two ways:
 *
 *	sleeper				waker
 *	waiters + 1	(P1)		make it true
 *	full fence	(P2)		full fence	(N1)
 *	is it true?			waiters?	(N2)
 *	sleep while the epoch is	epoch + 1	(N3)
 *	  the one of P1	(S1)		futex_wake()	(N4)
 *
 * If P2 comes before N1, N2 sees P1's waiter. N3 then comes after P1, so S1 finds another epoch and
 * returns, or slept before and is woken by N4. If N1 comes first, the sleeper sees that it is true.
 * The model in models/protocols weakens each ordering.
 *
 * The epoch has 32 bits: a sleeper that is preempted between P1 and S1 for exactly 2^32
 * notifications misses them.
 */
#include <futex.h>

#include "eventcount.h"
#include "fence.h"

#define WAITER UINT64_C(1)
#define EPOCH (UINT64_C(1) << 32)
#define WAITERS (EPOCH - 1)

void ivl_eventcount_init(struct ivl_eventcount *ec)
{
	atomic_init(&ec->state, 0);
}

uint64_t ivl_eventcount_prepare(struct ivl_eventcount *ec)
{
	uint64_t key = atomic_fetch_add_explicit(&ec->state, WAITER, memory_order_relaxed);

	/* P2, pairs with N1: our waiter is visible before we look at the condition. */
	ivl_fence(memory_order_seq_cst);
	return key / EPOCH;
}

void ivl_eventcount_cancel(struct ivl_eventcount *ec)
{
	/* Relaxed: a waker that misses it makes one needless system call. */
	atomic_fetch_sub_explicit(&ec->state, WAITER, memory_order_relaxed);
}

void ivl_eventcount_sleep(struct ivl_eventcount *ec, uint64_t key)
{
	/*
	 * Once, not until the epoch changes: a notify that counts on having woken us must not find
	 * us asleep again.
	 */
	ivl_futex_wait(ivl_futex_upper(&ec->state), (uint32_t)key);
	ivl_eventcount_cancel(ec);
}

bool ivl_eventcount_sleep_until(struct ivl_eventcount *ec, uint64_t key, uint64_t ns)
{
	ivl_futex_wait_until(ivl_futex_upper(&ec->state), (uint32_t)key, ns);
	return (uint32_t)(atomic_fetch_sub_explicit(&ec->state, WAITER, memory_order_relaxed) /
			  EPOCH) == (uint32_t)key;
}

bool ivl_eventcount_notify(struct ivl_eventcount *ec, unsigned int count)
{
	/* N1, pairs with P2: the condition is visible before we look for waiters. */
	ivl_fence(memory_order_seq_cst);
	if (!(atomic_load_explicit(&ec->state, memory_order_relaxed) & WAITERS))
		return false;

	/* Relaxed: the futex calls order it with S1, the word itself with P1. */
	atomic_fetch_add_explicit(&ec->state, EPOCH, memory_order_relaxed);
	/* The woken worker runs beside the caller, which keeps running. */
	if (count == 1)
		ivl_futex_wake_beside(ivl_futex_upper(&ec->state));
	else
		ivl_futex_wake(ivl_futex_upper(&ec->state), count);
	return true;
}
