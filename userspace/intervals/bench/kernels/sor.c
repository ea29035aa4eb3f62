// SPDX-License-Identifier: LGPL-2.1-or-later

#include "kernels.h"
#include "theses/square.h"

#define OMEGA 1.25f

struct bench_sor bench_sor;

static float *initial, *expected;

void sor_rows(size_t begin, size_t end, unsigned int colour)
{
	size_t n = bench_sor.n;

	for (size_t i = begin; i < end; i++) {
		float *row = bench_sor.cells + i * n;
		const float *above = row - n, *below = row + n;

		for (size_t j = 1 + ((i + colour) & 1); j < n - 1; j += 2)
			row[j] = OMEGA / 4 * (above[j] + below[j] + row[j - 1] + row[j + 1]) +
				 (1 - OMEGA) * row[j];
	}
}

static bool allocate(size_t n)
{
	bench_sor.n = n;
	bench_sor.cells = square_alloc(n, sizeof(float));
	initial = square_alloc(n, sizeof(float));
	expected = square_alloc(n, sizeof(float));
	if (!bench_sor.cells || !initial || !expected)
		return false;
	for (size_t i = 0; i < n * n; i++)
		initial[i] = (float)(i * 2654435761U >> 8 & 0xffff) / 65536;
	return true;
}

/* The order of one colour's rows does not change the result, which is exact. */
static int prepare(unsigned int size)
{
	size_t bytes = (size_t)size * size * sizeof(float);

	if (size < 3)
		return EINVAL;
	if (bench_sor.n != size) {
		if (!allocate(size))
			return ENOMEM;
		memcpy(bench_sor.cells, initial, bytes);
		for (unsigned int i = 0; i < 2 * SOR_ITERATIONS; i++)
			sor_rows(1, size - 1, i & 1);
		memcpy(expected, bench_sor.cells, bytes);
	}
	memcpy(bench_sor.cells, initial, bytes);
	return 0;
}

static bool check(void)
{
	return !memcmp(bench_sor.cells, expected, bench_sor.n * bench_sor.n * sizeof(float));
}

const struct bench_kernel bench_kernel_sor = {
	.name = "sor", .size = 2000, .quick_size = 100, .warmups = 0, .repeats = 3,
	.prepare = prepare, .check = check,
};
