// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The dot product of two long vectors, whose blocks are spread over the places: the task
 * of each block runs where the block is.
 */
#include <stdio.h>
#include <stdlib.h>

#include <intervals.h>
#include <intervals_dispatch.h>

#define BLOCKS 64
#define LENGTH 4096			/* of a block */

static ivl_objects *objects;
static double *x[BLOCKS], *y[BLOCKS];
static double sums[BLOCKS];
static unsigned int there[BLOCKS];	/* did the task run where its block is? */

static void multiply(void *arg)
{
	const size_t block = *(const size_t *)arg;
	double sum = 0;

	for (size_t i = 0; i < LENGTH; i++)
		sum += x[block][i] * y[block][i];
	sums[block] = sum;
	there[block] = ivl_here() == ivl_object_place(objects, x[block]);
}

static void multiply_all(void *arg)
{
	(void)arg;
	for (size_t block = 0; block < BLOCKS; block++) {
		const void *uses[] = { x[block], y[block] };

		if (ivl_async(multiply, &block, sizeof(block), ivl_dispatch(objects, uses, 2)))
			multiply(&block);
	}
}

static int run(ivl_interval *self, void *arg)
{
	(void)self;
	return ivl_finish(multiply_all, arg);
}

/* Block after block at the next place; the set frees them. */
static int make_blocks(ivl_runtime *runtime)
{
	for (unsigned int block = 0; block < BLOCKS; block++) {
		const ivl_place *place = ivl_place_at(runtime, block);

		x[block] = ivl_object_alloc(objects, LENGTH * sizeof(double), place);
		y[block] = ivl_object_alloc(objects, LENGTH * sizeof(double), place);
		if (!x[block] || !y[block])
			return EXIT_FAILURE;
		for (size_t i = 0; i < LENGTH; i++) {
			x[block][i] = 0.5;
			y[block][i] = block;
		}
	}
	return EXIT_SUCCESS;
}

int main(void)
{
	unsigned int local = 0;
	double sum = 0;
	ivl_runtime *runtime;
	int error;

	if (ivl_start(NULL, &runtime)) {
		fprintf(stderr, "%s\n", ivl_last_error());
		return EXIT_FAILURE;
	}
	objects = ivl_objects_create(runtime, 2 * BLOCKS);
	error = objects ? make_blocks(runtime) : EXIT_FAILURE;
	if (!error)
		error = ivl_run(runtime, run, NULL);
	for (unsigned int block = 0; block < BLOCKS; block++) {
		sum += sums[block];
		local += there[block];
	}
	printf("sum %.0f; %u of %u tasks ran where their block is\n", sum, local, BLOCKS);
	ivl_objects_destroy(objects);
	ivl_stop(runtime);
	return error || sum != 0.5 * LENGTH * (BLOCKS * (BLOCKS - 1) / 2) ? EXIT_FAILURE
									     : EXIT_SUCCESS;
}
