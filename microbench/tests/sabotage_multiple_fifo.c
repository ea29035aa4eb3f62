// SPDX-License-Identifier: GPL-2.0
#include "../fifo.c"
#include "sabotage.h"

/* Two items pass through FIFO 0; what happens to them in there differs. */
static void two_items(void (*between)(struct item *, struct item *))
{
	const struct ring *ring = padded_at(&rings, 0);
	struct item *first = item_at(0, ring->produced);
	struct item *second = item_at(0, ring->produced + 1);

	put(0, 1, opt);
	put(0, 2, opt);
	between(first, second);
	get(0, opt);
	get(0, opt);
}

static void swap(struct item *first, struct item *second)
{
	struct item saved = *first;

	*first = *second;
	*second = saved;
}

static void overwrite(struct item *first, struct item *second)
{
	first->value = second->value;
}

SABOTAGE(order)
{
	two_items(swap);
}

SABOTAGE(torn)
{
	two_items(overwrite);
}

SABOTAGE(left_over)
{
	put(0, 1, opt);
}

/* The last consumer got an item twice, and another never: the counts are right. */
SABOTAGE(consumed_twice)
{
	++*(uint64_t *)padded_at(&digests, opt->threads - 1);
}
