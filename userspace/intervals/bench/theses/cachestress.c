// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The Cache Stress Test of the thesis on intervals (sections 3.1 and 5.3.1): two arrays, each as
 * large as a processor's outermost cache, and 64 tasks, half of them for each. A task adds and
 * multiplies all elements of its array 100 times.
 */
#include "theses.h"

#define PASSES 100
#define ARRAYS 2

struct bench_cachestress bench_cachestress;

static size_t n;
static uint32_t *arrays[ARRAYS];
static enum bench_locality locality;
/* Modulo 2^32. On lines of their own: tasks are to share what they read. */
static struct result {
	uint32_t sum, product;
} __attribute__((aligned(64))) results[CACHESTRESS_TASKS];

unsigned int cachestress_place(unsigned int task)
{
	switch (locality) {
	case LOCALITY_BEST:
		return task % ARRAYS;
	case LOCALITY_WORST:
		return task / ARRAYS % 2;
	case LOCALITY_RANDOM:
		return task * 2654435761U >> 31;
	default:
		return LOCALITY_NONE;
	}
}

void cachestress_task(void *arg)
{
	unsigned int task = *(unsigned int *)arg;
	const uint32_t *array = arrays[task % ARRAYS];
	struct result result = { 0, 1 };

	for (unsigned int pass = 0; pass < PASSES; pass++) {
		/* Otherwise a compiler could make one pass and multiply its sum. */
		__asm__ volatile("" : : "r"(array) : "memory");
		for (size_t i = 0; i < n; i++) {
			result.sum += array[i];
			result.product *= array[i];
		}
	}
	results[task] = result;
}

/* Odd numbers: no product becomes 0. */
static void fill(void)
{
	for (size_t i = 0; i < n; i++)
		for (unsigned int array = 0; array < ARRAYS; array++)
			arrays[array][i] = (uint32_t)((i * ARRAYS + array) * 2654435761U) | 1;
}

static int prepare(unsigned int size, enum bench_locality where)
{
	locality = where;
	if (n != size) {
		n = size;
		for (unsigned int i = 0; i < ARRAYS; i++) {
			arrays[i] = malloc(size * sizeof(**arrays));
			if (!arrays[i])
				return ENOMEM;
		}
		fill();
	}
	for (unsigned int i = 0; i < CACHESTRESS_TASKS; i++)
		bench_cachestress.task[i] = i;
	memset(results, 0, sizeof(results));
	return 0;
}

/* The result of 100 passes: 100 sums, and the 100th power, by squaring. */
static struct result expected(const uint32_t *array)
{
	struct result once = { 0, 1 }, all = { 0, 1 };

	for (size_t i = n; i--; ) {
		once.sum += array[i];
		once.product *= array[i];
	}
	all.sum = PASSES * once.sum;
	for (unsigned int exponent = PASSES; exponent; exponent >>= 1) {
		if (exponent & 1)
			all.product *= once.product;
		once.product *= once.product;
	}
	return all;
}

static bool check(void)
{
	struct result right[ARRAYS] = { expected(arrays[0]), expected(arrays[1]) };

	for (unsigned int i = 0; i < CACHESTRESS_TASKS; i++)
		if (results[i].sum != right[i % ARRAYS].sum ||
		    results[i].product != right[i % ARRAYS].product)
			return false;
	return true;
}

#define SIZES .size = 2097144, .quick_size = 1000, .check = check
KERNEL_AT(cachestress, best, LOCALITY_BEST, prepare, SIZES);
KERNEL_AT(cachestress, ignorant, LOCALITY_IGNORANT, prepare, SIZES);
KERNEL_AT(cachestress, random, LOCALITY_RANDOM, prepare, SIZES);
KERNEL_AT(cachestress, worst, LOCALITY_WORST, prepare, SIZES);
