// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finish and async: walk a tree of unknown size. A node starts an async for each of its children
 * and returns without waiting; the one finish around the walk waits for all. An async has a copy of
 * its argument.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <intervals.h>

#define DEPTH 9

struct node {
	unsigned int depth, children;
};

static atomic_ulong nodes;

/* The children of a node have 2, 3, 4, ... children themselves. */
static void visit(void *arg)
{
	const struct node *node = arg;

	/* Relaxed: the end of the finish orders it. */
	atomic_fetch_add_explicit(&nodes, 1, memory_order_relaxed);
	if (node->depth == DEPTH)
		return;
	for (unsigned int n = 0; n < node->children; n++) {
		struct node child = { node->depth + 1, n + 2 };

		if (ivl_async(visit, &child, sizeof(child), NULL))
			visit(&child);	/* out of memory: here and now */
	}
}

static int run(ivl_interval *self, void *arg)
{
	(void)self;
	return ivl_finish(visit, arg);
}

/* The same, one after the other. */
static unsigned long count(struct node node)
{
	unsigned long sum = 1;

	for (unsigned int n = 0; node.depth < DEPTH && n < node.children; n++)
		sum += count((struct node){ node.depth + 1, n + 2 });
	return sum;
}

int main(void)
{
	struct node root = { 0, 1 };
	ivl_runtime *runtime;

	if (ivl_start(NULL, &runtime)) {
		fprintf(stderr, "%s\n", ivl_last_error());
		return EXIT_FAILURE;
	}
	ivl_run(runtime, run, &root);
	ivl_stop(runtime);
	printf("%lu nodes\n", atomic_load(&nodes));
	return atomic_load(&nodes) == count(root) ? EXIT_SUCCESS : EXIT_FAILURE;
}
