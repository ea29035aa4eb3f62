// SPDX-License-Identifier: GPL-2.0
/*
 * Parallel radix sort, after G. E. Blelloch et al., "A Comparison of Sorting Algorithms
 * for the Connection Machine CM-2" (SPAA 1991), the kernel of S. C. Woo et al., "The
 * SPLASH-2 Programs" (ISCA 1995). For each digit, the least one first:
 *
 *	1. each thread counts the digits of its keys: a histogram
 *	2. a binary tree over the threads sums the histograms on the way up and hands out
 *	   on the way down, for each digit, the place of a thread's first key
 *	3. each thread moves its keys to their places in the other array
 *
 * No lock. In the tree, a pair of flags belongs to each left child: `ready`, its sums
 * may be read, and `given`, its places have been written. The thread that waits for a flag clears
 * it. The barrier stands after 1, as in SPLASH-2, and after 3, between the writers
 * of an array and its readers.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "common/splash.h"
#include "common/think.h"

#define MAX_N (UINT64_C(1) << 32)
#define MAX_RADIX 65536

static uint64_t n = 1 << 18, radix = 1024, limit = 1 << 19;

/* Of the tree: a thread is a leaf, and the last one below a node works for it. */
struct node {
	struct splash_flag ready, given;
	struct node *parent, *left, *right;
	uint64_t *count;	/* for each digit, the keys of the threads below */
	uint64_t *place;	/* for each digit, where the first of them goes */
};

static unsigned int digit_bits, passes;
static uint32_t *keys[2];	/* sorted from one to the other */
static struct node *nodes;	/* the leaves, then the inner nodes */
static struct splash_barrier barrier;

/* Uniform in [0, limit). */
static uint32_t random_key(uint64_t *state)
{
	return (uint32_t)((splash_random(state) >> 32) * limit >> 32);
}

/* A node over `count` threads, made from the pool behind the leaves. */
static struct node *make_tree(unsigned int first, unsigned int count, struct node *parent,
			      struct node **pool)
{
	struct node *node = count == 1 ? &nodes[first] : (*pool)++;

	splash_flag_init(&node->ready);
	splash_flag_init(&node->given);
	node->count = splash_alloc(radix, sizeof(*node->count));
	node->place = splash_alloc(radix, sizeof(*node->place));
	node->parent = parent;
	if (count > 1) {
		node->left = make_tree(first, count / 2, node, pool);
		node->right = make_tree(first + count / 2, count - count / 2, node, pool);
	}
	return node;
}

static void setup(const struct splash_options *opt)
{
	struct node *pool;
	uint64_t state = splash_random_state(opt->seed, 0);

	if (radix & (radix - 1))
		splash_refuse("-r %" PRIu64 ": the radix must be a power of two from 2 to %d", radix,
			      MAX_RADIX);
	if (opt->threads > n)
		splash_refuse("%u threads have no more than %" PRIu64 " keys to sort: choose fewer "
			      "threads or a larger -n", opt->threads, n);
	digit_bits = (unsigned int)__builtin_ctzll(radix);
	for (uint64_t rest = limit - 1; rest || !passes; rest >>= digit_bits)
		passes++;

	keys[0] = splash_alloc(n, sizeof(*keys[0]));
	keys[1] = splash_alloc(n, sizeof(*keys[1]));
	nodes = splash_alloc(2 * opt->threads - 1, sizeof(*nodes));
	pool = &nodes[opt->threads];
	make_tree(0, opt->threads, NULL, &pool);
	splash_barrier_init(&barrier, opt->threads);
	for (uint64_t i = 0; i < n; i++)
		keys[0][i] = random_key(&state);
}

static void await(struct splash_worker *w, struct splash_flag *flag)
{
	splash_flag_wait(w, flag);
	splash_flag_clear(flag);
}

/* From the thread's leaf to the last node that it works for. */
static struct node *climb(struct splash_worker *w)
{
	struct node *node = &nodes[w->id];

	while (node->parent && node == node->parent->right) {
		struct node *left = node->parent->left, *right = node;

		await(w, &left->ready);
		node = node->parent;
		for (uint64_t d = 0; d < radix; d++)
			node->count[d] = left->count[d] + right->count[d];
	}
	return node;
}

/* And back to the leaf. */
static void descend(struct node *node)
{
	while (node->right) {
		struct node *left = node->left, *right = node->right;

		for (uint64_t d = 0; d < radix; d++) {
			left->place[d] = node->place[d];
			right->place[d] = node->place[d] + left->count[d];
		}
		splash_flag_set(&left->given);
		node = right;
	}
}

/* At the root: keys with a smaller digit go before. */
static void place_digits(struct node *root)
{
	uint64_t sum = 0;

	for (uint64_t d = 0; d < radix; d++) {
		root->place[d] = sum;
		sum += root->count[d];
	}
}

static void combine(struct splash_worker *w)
{
	struct node *node = climb(w);

	if (node->parent) {
		splash_flag_set(&node->ready);
		await(w, &node->given);
	} else {
		place_digits(node);
	}
	descend(node);
}

static void work(struct splash_worker *w)
{
	struct node *leaf = &nodes[w->id];
	uint64_t begin, end;

	splash_share(n, w->opt->threads, w->id, &begin, &end);
	for (unsigned int pass = 0; pass < passes; pass++) {
		const uint32_t *from = keys[pass % 2];
		uint32_t *to = keys[1 - pass % 2];
		unsigned int shift = pass * digit_bits;

		for (uint64_t d = 0; d < radix; d++)
			leaf->count[d] = 0;
		for (uint64_t i = begin; i < end; i++)
			leaf->count[from[i] >> shift & (radix - 1)]++;
		splash_barrier(w, &barrier);

		combine(w);
		for (uint64_t i = begin; i < end; i++)
			to[leaf->place[from[i] >> shift & (radix - 1)]++] = from[i];
		splash_barrier(w, &barrier);
	}
}

/*
 * The keys are in order, and are the keys of the input: a lost, doubled or invented key
 * changes the sum of well-mixed 64-bit values.
 */
static void check(const struct splash_options *opt, struct verdict *verdict)
{
	const uint32_t *sorted = keys[passes % 2];
	uint64_t state = splash_random_state(opt->seed, 0), difference = 0;

	for (uint64_t i = 0; i < n; i++) {
		if (i && sorted[i - 1] > sorted[i])
			verdict_fail(verdict, "key %" PRIu64 " is smaller than the one before", i);
		difference += mix64(sorted[i] + UINT64_C(1)) -
			      mix64(random_key(&state) + UINT64_C(1));
	}
	if (difference)
		verdict_fail(verdict, "the sorted keys differ from the input keys");
}

/* Each place has a weight of its own. */
static double result(void)
{
	uint64_t state = splash_random_state(0, 0);
	double sum = 0;

	for (uint64_t i = 0; i < n; i++)
		sum += keys[passes % 2][i] * splash_random_real(&state);
	return sum;
}

static const struct splash_number numbers[] = {
	{ "n", "keys", &n, 1, MAX_N },
	{ "r", "radix, a power of two", &radix, 2, MAX_RADIX },
	{ "m", "all keys are smaller than this", &limit, 1, UINT64_C(1) << 32 },
	{ 0 }
};

const struct splash_program program = {
	.name = "radix",
	.about = "Radix sort of random whole numbers. Any number of threads up to the keys. The "
		 "paper's size: -n16777216 -r1024.",
	.numbers = numbers,
	.setup = setup,
	.work = work,
	.check = check,
	.result = result,
};
