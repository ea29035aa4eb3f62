// SPDX-License-Identifier: GPL-2.0
#include "bus.h"

#define WORD_BITS 64

uint64_t bus_take(struct bus *b, uint64_t time)
{
	uint64_t first = time / b->slot, word = first / WORD_BITS, slot;
	uint64_t free = ~0ull << first % WORD_BITS;

	if (word + BUS_WORDS < b->end)
		return 0;
	for (;; word++, free = ~0ull) {
		while (b->end <= word)
			b->taken[b->end++ % BUS_WORDS] = 0;
		free &= ~b->taken[word % BUS_WORDS];
		if (free)
			break;
	}
	b->taken[word % BUS_WORDS] |= free & -free;
	slot = word * WORD_BITS + __builtin_ctzll(free);
	/* In a free slot it need not wait for the slot's beginning. */
	return slot == first ? 0 : slot * b->slot - time;
}
