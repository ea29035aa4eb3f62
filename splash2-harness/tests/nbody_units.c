// SPDX-License-Identifier: GPL-2.0
/* What Barnes and FMM share: the curve through a tree, and the pools of its cells. */
#include "unit.h"
#include "nbody/hilbert.h"
#include "nbody/pool.h"

#define DEPTH 4

static unsigned int visited;
static int before[3];

/* Each cell of the grid is next to the one before. */
static void visit(const int *at)
{
	int steps = 0;

	for (unsigned int axis = 0; axis < 3; axis++) {
		steps += abs(at[axis] - before[axis]);
		before[axis] = at[axis];
	}
	assert_true(steps == (visited++ > 0));
}

static void follow(unsigned int dimensions, struct hilbert curve, unsigned int depth,
		   const int *at)
{
	unsigned int seen = 0;

	if (depth == DEPTH) {
		visit(at);
		return;
	}
	for (unsigned int i = 0; i < 1U << dimensions; i++) {
		struct hilbert inside;
		unsigned int child = hilbert_child(dimensions, curve, i, &inside);
		int corner[3] = { 0 };

		for (unsigned int axis = 0; axis < dimensions; axis++)
			corner[axis] = 2 * at[axis] + (int)(child >> axis & 1);
		seen |= 1U << child;
		follow(dimensions, inside, depth + 1, corner);
	}
	assert_true(seen == (1U << (1U << dimensions)) - 1);
}

static void follow_all(unsigned int dimensions)
{
	visited = 0;
	for (unsigned int axis = 0; axis < 3; axis++)
		before[axis] = 0;
	follow(dimensions, (struct hilbert){ 0 }, 0, (const int[3]){ 0 });
	assert_true(visited == 1U << (dimensions * DEPTH));
}

TEST(hilbert_curves)
{
	follow_all(2);
	follow_all(3);
}

static unsigned int prepared;

struct item {
	unsigned int prepared, value;
};

static void prepare(void *item)
{
	((struct item *)item)->prepared = ++prepared;
}

TEST(pools)
{
	struct pool pool;

	pool_init(&pool, sizeof(struct item), prepare);
	for (unsigned int round = 0; round < 2; round++) {
		for (unsigned int i = 0; i < 1000; i++) {
			struct item *item = pool_take(&pool);

			/* Prepared once, and what was left in it is still there. */
			assert_true(item->prepared == i + 1);
			assert_true(item->value == round * i);
			assert_true(item == pool_at(&pool, i));
			item->value = i;
		}
		for (unsigned int i = 0; i < 1000; i++)
			assert_true(((struct item *)pool_at(&pool, i))->value == i);
		assert_true(pool.used == 1000);
		pool_empty(&pool);
	}
	assert_true(prepared == 1000);
	for (unsigned int k = 0; k < POOL_CHUNKS; k++)
		free(pool.chunk[k]);
}

RUN_TESTS(NULL, NULL)
