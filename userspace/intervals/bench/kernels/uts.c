// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Two trees of the UTS suite: T1 is geometric (every node above a depth has a
 * geometrically distributed number of children, 4 on average), T3 is binomial (all
 * nodes but the root have 8 children with probability 0.124875, or none): deep,
 * and so unbalanced that a subtree's size cannot be guessed.
 */
#include "kernels.h"
#include "sha1.h"

#define T1_BRANCHING 4.0
#define T1_SEED 19
#define T3_PROBABILITY 0.124875
#define T3_CHILDREN 8
#define T3_SEED 42

#define GEOMETRIC_MOST 100	/* the suite's bound on the children of a node */

struct bench_uts bench_uts;

static struct {
	bool geometric;
	unsigned int size;	/* T1: the depth; T3: the children of the root */
} tree;

static void store(uint8_t *bytes, uint32_t word)
{
	for (int i = 0; i < 4; i++)
		bytes[i] = word >> (24 - 8 * i);
}

/* Uniform in [0, 1): the last 31 bits of the state. */
static double uniform(const struct bench_uts *node)
{
	const uint8_t *s = node->state + 16;
	uint32_t bits = (uint32_t)s[0] << 24 | (uint32_t)s[1] << 16 | (uint32_t)s[2] << 8 | s[3];

	return (bits & 0x7fffffff) / 2147483648.0;
}

static unsigned int geometric_children(const struct bench_uts *node)
{
	double p = 1 / (1 + T1_BRANCHING);
	double children;

	if (node->depth >= tree.size)
		return 0;
	children = floor(log(1 - uniform(node)) / log(1 - p));
	return children < GEOMETRIC_MOST ? (unsigned int)children : GEOMETRIC_MOST;
}

static unsigned int binomial_children(const struct bench_uts *node)
{
	if (node->depth == 0)
		return tree.size;
	return uniform(node) < T3_PROBABILITY ? T3_CHILDREN : 0;
}

unsigned int uts_children(const struct bench_uts *node)
{
	return tree.geometric ? geometric_children(node) : binomial_children(node);
}

void uts_child(const struct bench_uts *node, unsigned int index, struct bench_uts *child)
{
	uint8_t message[SHA1_BYTES + 4];

	memcpy(message, node->state, SHA1_BYTES);
	store(message + SHA1_BYTES, index);
	sha1(message, sizeof(message), child->state);
	child->depth = node->depth + 1;
	child->nodes = 0;
}

static int prepare(bool geometric, unsigned int size, uint32_t seed)
{
	uint8_t message[20] = { 0 };

	tree.geometric = geometric;
	tree.size = size;
	memset(&bench_uts, 0, sizeof(bench_uts));
	store(message + 16, seed);
	sha1(message, sizeof(message), bench_uts.state);
	return 0;
}

static int prepare_t1(unsigned int size)
{
	return prepare(true, size, T1_SEED);
}

static int prepare_t3(unsigned int size)
{
	return prepare(false, size, T3_SEED);
}

static uint64_t tasks(void)
{
	return bench_uts.nodes - 1;
}

/* The published trees and the quick ones; further sizes cannot be checked. */
static bool check(void)
{
	static const struct {
		bool geometric;
		unsigned int size;
		uint64_t nodes;
	} known[] = {
		{ true, 10, 4130071 }, { true, 4, 944 },
		{ false, 2000, 4112897 }, { false, 10, 6123 },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].geometric == tree.geometric && known[i].size == tree.size)
			return known[i].nodes == bench_uts.nodes;
	return false;
}

const struct bench_kernel bench_kernel_uts_t1 = {
	.name = "uts_t1", .size = 10, .quick_size = 4, .warmups = 0, .repeats = 2,
	.prepare = prepare_t1, .tasks = tasks, .check = check,
};

const struct bench_kernel bench_kernel_uts_t3 = {
	.name = "uts_t3", .size = 2000, .quick_size = 10, .warmups = 0, .repeats = 2,
	.prepare = prepare_t3, .tasks = tasks, .check = check,
};
