// SPDX-License-Identifier: LGPL-2.1-or-later

#include "kernels.h"

#define NONE UINT32_MAX

static uint32_t side, vertices;
static uint32_t *parents;

uint32_t dfs_neighbour(uint32_t vertex, unsigned int direction)
{
	uint32_t row = vertex / side, column = vertex % side;

	switch (direction) {
	case 0:
		return row * side + (column + 1) % side;
	case 1:
		return (row + 1) % side * side + column;
	case 2:
		return row * side + (column + side - 1) % side;
	default:
		return (row + side - 1) % side * side + column;
	}
}

bool dfs_label(uint32_t vertex, uint32_t parent)
{
	uint32_t none = NONE;

	/* The task that labels a vertex starts its task, which orders the rest. */
	return __atomic_load_n(&parents[vertex], __ATOMIC_RELAXED) == NONE &&
	       __atomic_compare_exchange_n(&parents[vertex], &none, parent, false,
					   __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static int prepare(unsigned int size)
{
	if (size < 2 || size > 65535)
		return EINVAL;
	if (side != size) {
		side = size;
		vertices = side * side;
		parents = malloc((size_t)vertices * sizeof(*parents));
		if (!parents)
			return ENOMEM;
	}
	memset(parents, 0xff, (size_t)vertices * sizeof(*parents));
	parents[DFS_ROOT] = DFS_ROOT;
	return 0;
}

/* All vertices but the root. */
static uint64_t tasks(void)
{
	return vertices - 1;
}

static bool adjacent(uint32_t vertex, uint32_t parent)
{
	for (unsigned int i = 0; i < DFS_NEIGHBOURS; i++)
		if (dfs_neighbour(vertex, i) == parent)
			return true;
	return false;
}

/*
 * Is it a tree? Each edge is one of the graph, and every path upwards ends at the
 * root. Vertices on a path that did are made children of the root.
 */
static bool check(void)
{
	for (uint32_t v = 0; v < vertices; v++)
		if (v != DFS_ROOT && (parents[v] == NONE || !adjacent(v, parents[v])))
			return false;
	for (uint32_t v = 0; v < vertices; v++) {
		uint32_t end = v, steps = 0;

		for (; parents[end] != DFS_ROOT; end = parents[end])
			if (++steps > vertices)
				return false;
		for (uint32_t next, at = v; at != end; at = next) {
			next = parents[at];
			parents[at] = DFS_ROOT;
		}
	}
	return true;
}

const struct bench_kernel bench_kernel_dfs = {
	.name = "dfs", .size = 2000, .quick_size = 40, .warmups = 1, .repeats = 3,
	.prepare = prepare, .tasks = tasks, .check = check,
};
