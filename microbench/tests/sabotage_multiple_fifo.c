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

static void order(void)
{
	two_items(swap);
}

static void torn(void)
{
	two_items(overwrite);
}

static void left_over(void)
{
	put(0, 1, opt);
}

/* The last consumer got an item twice, and another never: the counts are right. */
static void consumed_twice(void)
{
	++*(uint64_t *)padded_at(&digests, opt->threads - 1);
}

const struct sabotage sabotages[] = {
	{ "order", order },
	{ "torn", torn },
	{ "left_over", left_over },
	{ "consumed_twice", consumed_twice },
	{ 0 }
};
