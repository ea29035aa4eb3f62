// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Floorplan (BOTS): rectangular cells are put side by side so that the rectangle around them is
 * least, by branch and bound. A cell is placed, upright or turned, to the right of a placed cell or
 * below it. The cells are our own.
 */
#include "theses.h"

#define EXHAUSTIVE 6		/* cells for which all ways are tried as a check */
#define BOARD 64		/* longer than these one behind the other */

struct bench_floorplan bench_floorplan;

static unsigned int n, best, expected;

static const struct bench_cell_size {
	uint8_t width, height;
} cells[FLOORPLAN_MAX] = {
	{ 3, 5 }, { 2, 6 }, { 4, 1 }, { 5, 2 }, { 3, 3 }, { 7, 1 }, { 2, 4 }, { 6, 3 }, { 1, 5 },
	{ 4, 4 }, { 2, 3 }, { 5, 3 }, { 6, 2 }, { 1, 7 }, { 3, 4 },
};

bool floorplan_complete(const struct bench_floorplan *plan)
{
	return plan->placed == n;
}

static unsigned int area(const struct bench_floorplan *plan)
{
	return plan->width * plan->height;
}

static bool overlap(const struct bench_cell_at *a, const struct bench_cell_at *b)
{
	return a->x < b->x + b->width && b->x < a->x + a->width && a->y < b->y + b->height &&
	       b->y < a->y + a->height;
}

static unsigned int larger(unsigned int a, unsigned int b)
{
	return a > b ? a : b;
}

unsigned int floorplan_ways(const struct bench_floorplan *plan)
{
	return plan->placed ? 4 * plan->placed : 2;
}

/* How a way places the next cell: turned or not, below or to the right of which cell. */
static struct bench_cell_at place(const struct bench_floorplan *plan, unsigned int way)
{
	const struct bench_cell_size *cell = &cells[plan->placed];
	struct bench_cell_at at = {
		.width = way % 2 ? cell->height : cell->width,
		.height = way % 2 ? cell->width : cell->height,
	};
	const struct bench_cell_at *beside = &plan->cells[way / 4];

	if (plan->placed) {
		at.x = way / 2 % 2 ? beside->x : beside->x + beside->width;
		at.y = way / 2 % 2 ? beside->y + beside->height : beside->y;
	}
	return at;
}

bool floorplan_place(const struct bench_floorplan *plan, unsigned int way,
		     struct bench_floorplan *next)
{
	struct bench_cell_at at = place(plan, way);

	for (unsigned int i = 0; i < plan->placed; i++)
		if (overlap(&at, &plan->cells[i]))
			return false;
	*next = *plan;
	next->cells[next->placed++] = at;
	next->width = larger(plan->width, at.x + at.width);
	next->height = larger(plan->height, at.y + at.height);
	return area(next) < __atomic_load_n(&best, __ATOMIC_RELAXED);
}

void floorplan_keep(const struct bench_floorplan *plan)
{
	unsigned int known = __atomic_load_n(&best, __ATOMIC_RELAXED);

	/* Relaxed: it orders nothing else. */
	while (area(plan) < known &&
	       !__atomic_compare_exchange_n(&best, &known, area(plan), false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED))
		;
}

/* Fill or clear a cell on a board of one bit per square; false: occupied. */
static bool fill(uint64_t board[BOARD], const struct bench_cell_at *at, bool clear)
{
	uint64_t bits = ((UINT64_C(1) << at->width) - 1) << at->x, there = 0;

	for (unsigned int y = at->y; y < at->y + at->height; y++)
		there |= board[y] & bits;
	if (there && !clear)
		return false;
	for (unsigned int y = at->y; y < at->y + at->height; y++)
		board[y] ^= bits;
	return true;
}

/* All ways, without a bound, on a board. */
static unsigned int try_all(struct bench_floorplan *plan, uint64_t board[BOARD])
{
	unsigned int least = ~0U, width = 0, height = 0;

	if (floorplan_complete(plan)) {
		for (unsigned int i = 0; i < n; i++) {
			width = larger(width, plan->cells[i].x + plan->cells[i].width);
			height = larger(height, plan->cells[i].y + plan->cells[i].height);
		}
		return width * height;
	}
	for (unsigned int way = 0; way < floorplan_ways(plan); way++) {
		struct bench_cell_at at = place(plan, way);
		unsigned int found;

		if (!fill(board, &at, false))
			continue;
		plan->cells[plan->placed++] = at;
		found = try_all(plan, board);
		plan->placed--;
		fill(board, &at, true);
		least = found < least ? found : least;
	}
	return least;
}

/* Branch and bound by one thread. */
static void search(const struct bench_floorplan *plan)
{
	struct bench_floorplan next;

	if (floorplan_complete(plan)) {
		floorplan_keep(plan);
		return;
	}
	for (unsigned int way = 0; way < floorplan_ways(plan); way++)
		if (floorplan_place(plan, way, &next))
			search(&next);
}

static unsigned int least_area(void)
{
	struct bench_floorplan plan = { 0 };
	uint64_t board[BOARD] = { 0 };

	if (n <= EXHAUSTIVE)
		return try_all(&plan, board);
	best = ~0U;
	search(&plan);
	return best;
}

static int prepare(unsigned int size)
{
	if (size > FLOORPLAN_MAX)
		return EINVAL;
	if (n != size) {
		n = size;
		expected = least_area();
	}
	best = ~0U;
	memset(&bench_floorplan, 0, sizeof(bench_floorplan));
	return 0;
}

static bool check(void)
{
	return best == expected;
}

const struct bench_kernel bench_kernel_floorplan = {
	.name = "floorplan", .size = 12, .quick_size = 6, .warmups = 0, .repeats = 3,
	.prepare = prepare, .check = check,
};
