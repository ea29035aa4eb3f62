// SPDX-License-Identifier: LGPL-2.1-or-later

#include "kernels.h"

struct bench_chain bench_chain;
struct bench_wavefront bench_wavefront;

void chain_link(void *arg)
{
	uint64_t *link = (uint64_t *)arg;

	*link += link == bench_chain.links ? 1 : link[-1];
}

static int chain_prepare(unsigned int size)
{
	bench_chain = (struct bench_chain){ .rounds = size };
	return 0;
}

static uint64_t chain_tasks(void)
{
	return (uint64_t)bench_chain.rounds * CHAIN_LENGTH;
}

/* Link i of round r adds the new value of link i - 1: binomial coefficients, modulo 2^64. */
static bool chain_check(void)
{
	uint64_t links[CHAIN_LENGTH] = { 0 };

	for (unsigned int round = 0; round < bench_chain.rounds; round++) {
		links[0]++;
		for (unsigned int i = 1; i < CHAIN_LENGTH; i++)
			links[i] += links[i - 1];
	}
	for (unsigned int i = 0; i < CHAIN_LENGTH; i++)
		if (links[i] != bench_chain.links[i])
			return false;
	return true;
}

const struct bench_kernel bench_kernel_chain = {
	.name = "chain", .size = 2000, .quick_size = 3, .warmups = 1, .repeats = 3,
	.prepare = chain_prepare, .tasks = chain_tasks, .check = chain_check,
};

static uint64_t paths(const struct bench_cell *cell)
{
	uint64_t above = cell->above ? cell->above->paths : 0;
	uint64_t left = cell->left ? cell->left->paths : 0;

	return cell->above || cell->left ? above + left : 1;
}

void wavefront_cell(void *arg)
{
	struct bench_cell *cell = (struct bench_cell *)arg;

	cell->paths = paths(cell);
}

static int wavefront_prepare(unsigned int size)
{
	struct bench_wavefront *w = &bench_wavefront;

	if (size < 1 || size > 65535)
		return EINVAL;
	if (w->n != size) {
		w->n = size;
		w->cells = malloc(w->n * w->n * sizeof(*w->cells));
		if (!w->cells)
			return ENOMEM;
	}
	for (size_t i = 0; i < w->n * w->n; i++)
		w->cells[i] = (struct bench_cell){
			.above = i < w->n ? NULL : &w->cells[i - w->n],
			.left = i % w->n ? &w->cells[i - 1] : NULL,
		};
	return 0;
}

static uint64_t wavefront_tasks(void)
{
	return (uint64_t)bench_wavefront.n * bench_wavefront.n;
}

/* The rule has one solution: a node that ran too early has another value. */
static bool wavefront_check(void)
{
	const struct bench_wavefront *w = &bench_wavefront;

	for (size_t i = 0; i < w->n * w->n; i++)
		if (w->cells[i].paths != paths(&w->cells[i]))
			return false;
	return true;
}

const struct bench_kernel bench_kernel_wavefront = {
	.name = "wavefront", .size = 256, .quick_size = 20, .warmups = 1, .repeats = 3,
	.prepare = wavefront_prepare, .tasks = wavefront_tasks, .check = wavefront_check,
};
