// SPDX-License-Identifier: LGPL-2.1-or-later
#include <futex.h>

#include "fence.h"
#include "nap.h"

/* Who naps alone writes NONE, and nobody else begins a nap before that. */
enum { NONE, ON, CALLED };

bool ivl_napped(const struct ivl_nap *nap)
{
	return atomic_load_explicit(&nap->word, memory_order_relaxed) != NONE;
}

bool ivl_nap_begin(struct ivl_nap *nap)
{
	uint32_t none = NONE;

	if (!atomic_compare_exchange_strong_explicit(&nap->word, &none, ON, memory_order_relaxed,
						     memory_order_relaxed))
		return false;
	/* Pairs with that before ivl_nap_call(): we see why we should not nap, or are called. */
	ivl_fence(memory_order_seq_cst);
	return true;
}

bool ivl_nap_on(struct ivl_nap *nap, uint64_t until)
{
	ivl_futex_wait_until(&nap->word, ON, until);
	return atomic_load_explicit(&nap->word, memory_order_relaxed) == ON;
}

void ivl_nap_end(struct ivl_nap *nap)
{
	atomic_store_explicit(&nap->word, NONE, memory_order_relaxed);
}

void ivl_nap_call(struct ivl_nap *nap)
{
	uint32_t on = ON;

	if (atomic_load_explicit(&nap->word, memory_order_relaxed) == ON &&
	    atomic_compare_exchange_strong_explicit(&nap->word, &on, CALLED, memory_order_relaxed,
						    memory_order_relaxed))
		ivl_futex_wake_beside(&nap->word);
}
