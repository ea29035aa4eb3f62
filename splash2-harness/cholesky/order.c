// SPDX-License-Identifier: GPL-2.0
/*
 * Nested dissection of a grid: A. George, "Nested Dissection of a Regular Finite Element
 * Mesh" (SIAM J. Numerical Analysis 10, 1973).
 */
#include "common/splash.h"
#include "order.h"

/* So few points that their order does not matter. */
#define LEAF 2

struct box {
	uint32_t low[3], high[3];	/* points low .. high - 1 of each dimension */
};

struct dissection {
	uint32_t side, *order, done;
};

uint32_t *order_natural(uint32_t n)
{
	uint32_t *order = splash_alloc(n, sizeof(*order));

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	return order;
}

static void take(struct dissection *d, const struct box *b)
{
	for (uint32_t z = b->low[2]; z < b->high[2]; z++)
		for (uint32_t y = b->low[1]; y < b->high[1]; y++)
			for (uint32_t x = b->low[0]; x < b->high[0]; x++)
				d->order[d->done++] = (z * d->side + y) * d->side + x;
}

static void dissect(struct dissection *d, const struct box *b)
{
	struct box lower = *b, upper = *b, plane = *b;
	uint32_t middle;
	int longest = 0;

	for (int i = 1; i < 3; i++)
		if (b->high[i] - b->low[i] > b->high[longest] - b->low[longest])
			longest = i;
	if (b->high[longest] - b->low[longest] <= LEAF) {
		take(d, b);
		return;
	}
	middle = b->low[longest] + (b->high[longest] - b->low[longest]) / 2;
	lower.high[longest] = middle;
	plane.low[longest] = middle;
	plane.high[longest] = middle + 1;
	upper.low[longest] = middle + 1;
	dissect(d, &lower);
	dissect(d, &upper);
	take(d, &plane);
}

uint32_t *order_dissection(uint32_t side)
{
	struct dissection d = { .side = side };
	struct box all = { { 0, 0, 0 }, { side, side, side } };

	d.order = splash_alloc((size_t)side * side * side, sizeof(*d.order));
	dissect(&d, &all);
	return d.order;
}
