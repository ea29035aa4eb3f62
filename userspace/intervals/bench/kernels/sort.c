// SPDX-License-Identifier: LGPL-2.1-or-later

#include "kernels.h"

#define INSERTION 24	/* values that insertion sort sorts faster */

struct bench_sort bench_sort;

static uint64_t expected;

static void insertion_sort(int32_t *values, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		int32_t value = values[i];
		size_t j = i;

		for (; j && values[j - 1] > value; j--)
			values[j] = values[j - 1];
		values[j] = value;
	}
}

static int32_t median(int32_t a, int32_t b, int32_t c)
{
	if (a > b) {
		int32_t swap = a;

		a = b;
		b = swap;
	}
	return c < a ? a : c > b ? b : c;
}

/* Quicksort with Hoare's partition. */
void sort_leaf(int32_t *values, size_t n)
{
	while (n > INSERTION) {
		int32_t pivot = median(values[0], values[n / 2], values[n - 1]);
		size_t i = 0, j = n - 1;

		for (;; i++, j--) {
			int32_t swap;

			while (values[i] < pivot)
				i++;
			while (values[j] > pivot)
				j--;
			if (i >= j)
				break;
			swap = values[i];
			values[i] = values[j];
			values[j] = swap;
		}
		sort_leaf(values, i);
		values += i;
		n -= i;
	}
	insertion_sort(values, n);
}

void sort_merge(int32_t *to, const int32_t *a, size_t na, const int32_t *b, size_t nb)
{
	while (na && nb) {
		bool second = *b < *a;

		*to++ = second ? *b : *a;
		b += second;
		a += !second;
		nb -= second;
		na -= !second;
	}
	memcpy(to, a, na * sizeof(*a));
	memcpy(to + na, b, nb * sizeof(*b));
}

size_t sort_rank(const int32_t *values, size_t n, int32_t limit)
{
	size_t begin = 0;

	while (n) {
		size_t half = n / 2;

		if (values[begin + half] < limit) {
			begin += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return begin;
}

uint64_t sort_digest(const int32_t *values, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t x = (uint32_t)values[i] + UINT64_C(0x9e3779b97f4a7c15);

		x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
		sum += x ^ x >> 27;
	}
	return sum;
}

static int prepare(unsigned int size)
{
	uint64_t state = 1;

	if (bench_sort.n != size) {
		bench_sort.n = size;
		bench_sort.values = malloc(size * sizeof(int32_t));
		bench_sort.scratch = malloc(size * sizeof(int32_t));
		if (!bench_sort.values || !bench_sort.scratch)
			return ENOMEM;
	}
	for (size_t i = 0; i < bench_sort.n; i++) {
		state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		bench_sort.values[i] = (int32_t)(state >> 32);
	}
	expected = sort_digest(bench_sort.values, bench_sort.n);
	return 0;
}

bool sort_right(const int32_t *values, size_t n, uint64_t digest)
{
	for (size_t i = 1; i < n; i++)
		if (values[i - 1] > values[i])
			return false;
	return sort_digest(values, n) == digest;
}

static bool check(void)
{
	return sort_right(bench_sort.values, bench_sort.n, expected);
}

const struct bench_kernel bench_kernel_sort = {
	.name = "sort", .size = 4194304, .quick_size = 50000, .warmups = 1, .repeats = 3,
	.prepare = prepare, .check = check,
};
