// SPDX-License-Identifier: LGPL-2.1-or-later

#include "kernels.h"

#define BRANCHES 13
#define MAX_DEPTH 10
#define MAX_THREADS 4096

struct bench_dag_node bench_dag_root = { .state = 1 };

static unsigned int max_depth;

/* Of 2^32: how likely are at most `children` at this depth. */
static uint32_t at_most[MAX_DEPTH + 1][BRANCHES];

/* Each thread counts in a cache line of its own; the last line is for all threads beyond. */
static struct {
	uint64_t nodes;
	char padding[128 - sizeof(uint64_t)];
} counters[MAX_THREADS + 1];
static unsigned int threads;
static __thread unsigned int mine;

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static void count(void)
{
	if (!mine) {
		unsigned int next = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);

		mine = next <= MAX_THREADS ? next : MAX_THREADS + 1;
	}
	/* The thread's own line needs no atomic addition, only a store that the reader sees. */
	if (mine <= MAX_THREADS)
		__atomic_store_n(&counters[mine - 1].nodes, counters[mine - 1].nodes + 1,
				 __ATOMIC_RELAXED);
	else
		__atomic_fetch_add(&counters[MAX_THREADS].nodes, 1, __ATOMIC_RELAXED);
}

unsigned int dag_visit(const struct bench_dag_node *node)
{
	uint32_t draw = mix(node->state) >> 32;
	unsigned int children = 0;

	count();
	if (node->depth >= max_depth)
		return 0;
	while (children < BRANCHES && draw >= at_most[node->depth][children])
		children++;
	return children;
}

void dag_child(const struct bench_dag_node *node, unsigned int index, struct bench_dag_node *child)
{
	child->state = mix(node->state + (index + 1) * UINT64_C(0x9e3779b97f4a7c15));
	child->depth = node->depth + 1;
}

/* Binomial: each of BRANCHES children exists with probability 1 - depth / max_depth. */
static void distribution(unsigned int depth)
{
	double p = 1 - (double)depth / max_depth, q = 1 - p;
	double sum = 0, ways = 1;

	for (unsigned int k = 0; k < BRANCHES; k++) {
		double term = ways;

		for (unsigned int i = 0; i < BRANCHES; i++)
			term *= i < k ? p : q;
		sum += term;
		at_most[depth][k] = (uint32_t)(sum * 4294967295.0);
		ways = ways * (BRANCHES - k) / (k + 1);
	}
}

static int prepare(unsigned int size)
{
	if (size < 1 || size > MAX_DEPTH)
		return EINVAL;
	max_depth = size;
	for (unsigned int depth = 0; depth < size; depth++)
		distribution(depth);
	memset(counters, 0, sizeof(counters));
	return 0;
}

static uint64_t nodes(void)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i <= MAX_THREADS; i++)
		sum += __atomic_load_n(&counters[i].nodes, __ATOMIC_RELAXED);
	return sum;
}

static uint64_t tasks(void)
{
	return nodes() - 1;
}

/* Nodes of depth 1, 2, ..., as the serial program counts them. */
static bool check(void)
{
	static const uint64_t expected[MAX_DEPTH + 1] = {
		0, 14, 105, 623, 3687, 21061, 117349, 649389, 3642173, 20153939, 107690883,
	};

	return expected[max_depth] == nodes();
}

const struct bench_kernel bench_kernel_dag = {
	.name = "dag", .size = 10, .quick_size = 4, .warmups = 0, .repeats = 1,
	.prepare = prepare, .tasks = tasks, .check = check,
};
