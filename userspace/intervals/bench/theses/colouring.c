// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * SLAW's GC: all ways to colour a graph so that neighbours differ, by constraint satisfaction: a
 * vertex after the other is given each colour that its neighbours leave. The graph is a clique of
 * n vertices, with n colours (SLAW's CLIQUE_10).
 */
#include "theses.h"

struct bench_colouring bench_colouring;

static unsigned int n;
static uint32_t neighbours[COLOURING_MAX];	/* of each vertex, one bit each */

bool colouring_complete(const struct bench_colouring *colouring)
{
	return colouring->vertices == n;
}

/* The colours that the next vertex may have, one bit each. */
uint32_t colouring_free(const struct bench_colouring *colouring)
{
	uint32_t taken = 0;

	for (unsigned int v = 0; v < colouring->vertices; v++)
		if (neighbours[colouring->vertices] >> v & 1)
			taken |= 1U << colouring->colours[v];
	return ~taken & ((1U << n) - 1);
}

void colouring_colour(const struct bench_colouring *colouring, unsigned int colour,
		      struct bench_colouring *next)
{
	*next = *colouring;
	next->colours[next->vertices++] = (uint8_t)colour;
	next->count = 0;
}

static int prepare(unsigned int size)
{
	if (size > COLOURING_MAX)
		return EINVAL;
	n = size;
	for (unsigned int v = 0; v < n; v++)
		neighbours[v] = ((1U << n) - 1) & ~(1U << v);
	memset(&bench_colouring, 0, sizeof(bench_colouring));
	return 0;
}

/* The chromatic polynomial of a clique: n (n - 1) (n - 2) ... */
static bool check(void)
{
	uint64_t count = 1;

	for (unsigned int i = 2; i <= n; i++)
		count *= i;
	return bench_colouring.count == count;
}

const struct bench_kernel bench_kernel_colouring = {
	.name = "colouring", .size = 10, .quick_size = 6, .warmups = 1, .repeats = 3,
	.prepare = prepare, .check = check,
};
