// SPDX-License-Identifier: LGPL-2.1-or-later
#include <futex.h>

#include "fence.h"
#include "timed_sleep.h"

/* Only the sleeper writes NONE; until then no other worker begins a timed sleep. */
enum { NONE, ON, CALLED };

bool ivl_timed_sleep_active(const struct ivl_timed_sleep *timed_sleep)
{
	return atomic_load_explicit(&timed_sleep->word, memory_order_relaxed) != NONE;
}

bool ivl_timed_sleep_begin(struct ivl_timed_sleep *timed_sleep)
{
	uint32_t none = NONE;

	if (!atomic_compare_exchange_strong_explicit(&timed_sleep->word, &none, ON,
						     memory_order_relaxed,
						     memory_order_relaxed))
		return false;
	/* Pairs with the fence before ivl_timed_sleep_wake(): work is seen, or the call. */
	ivl_fence(memory_order_seq_cst);
	return true;
}

bool ivl_timed_sleep_until(struct ivl_timed_sleep *timed_sleep, uint64_t until)
{
	ivl_futex_wait_until(&timed_sleep->word, ON, until);
	return atomic_load_explicit(&timed_sleep->word, memory_order_relaxed) == ON;
}

void ivl_timed_sleep_end(struct ivl_timed_sleep *timed_sleep)
{
	atomic_store_explicit(&timed_sleep->word, NONE, memory_order_relaxed);
}

void ivl_timed_sleep_wake(struct ivl_timed_sleep *timed_sleep)
{
	uint32_t on = ON;

	if (atomic_load_explicit(&timed_sleep->word, memory_order_relaxed) == ON &&
	    atomic_compare_exchange_strong_explicit(&timed_sleep->word, &on, CALLED,
						    memory_order_relaxed,
						    memory_order_relaxed))
		ivl_futex_wake_beside(&timed_sleep->word);
}
