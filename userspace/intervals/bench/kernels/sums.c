// SPDX-License-Identifier: LGPL-2.1-or-later

#include "kernels.h"

#define PERIOD 1021	/* a prime: no two blocks of a power of two begin alike */

struct bench_reduce bench_reduce;
struct bench_scan bench_scan;

double reduce_part(const double *values, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += values[i];
	return sum;
}

int64_t scan_sum(const int64_t *in, size_t n)
{
	int64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += in[i];
	return sum;
}

int64_t scan_part(int64_t *out, const int64_t *in, size_t n, int64_t before)
{
	for (size_t i = 0; i < n; i++)
		out[i] = before += in[i];
	return before;
}

/* Both add 1, 2, ... PERIOD, 1, 2, ...: a lost element changes the sum. */
static int64_t value(size_t i)
{
	return 1 + (int64_t)(i % PERIOD);
}

/* The sum of the first n of them. */
static int64_t sum_of_first(size_t n)
{
	int64_t periods = n / PERIOD, rest = n % PERIOD;

	return periods * (PERIOD * (PERIOD + 1) / 2) + rest * (rest + 1) / 2;
}

static int reduce_prepare(unsigned int size)
{
	bench_reduce.sum = 0;
	if (bench_reduce.n == size)
		return 0;
	bench_reduce.n = size;
	bench_reduce.values = malloc(size * sizeof(*bench_reduce.values));
	if (!bench_reduce.values)
		return ENOMEM;
	for (size_t i = 0; i < size; i++)
		bench_reduce.values[i] = (double)value(i);
	return 0;
}

static bool reduce_check(void)
{
	return bench_reduce.sum == (double)sum_of_first(bench_reduce.n);
}

const struct bench_kernel bench_kernel_reduce = {
	.name = "reduce", .size = 16777216, .quick_size = 50000, .warmups = 1, .repeats = 9,
	.prepare = reduce_prepare, .check = reduce_check,
};

static int scan_prepare(unsigned int size)
{
	size_t bytes = size * sizeof(int64_t);

	if (bench_scan.n != size) {
		bench_scan.n = size;
		bench_scan.in = malloc(bytes);
		bench_scan.out = malloc(bytes);
		if (!bench_scan.in || !bench_scan.out)
			return ENOMEM;
		for (size_t i = 0; i < size; i++)
			bench_scan.in[i] = value(i);
	}
	memset(bench_scan.out, 0, bytes);
	return 0;
}

static bool scan_check(void)
{
	for (size_t i = 0; i < bench_scan.n; i++)
		if (bench_scan.out[i] != sum_of_first(i + 1))
			return false;
	return true;
}

const struct bench_kernel bench_kernel_scan = {
	.name = "scan", .size = 16777216, .quick_size = 50000, .warmups = 1, .repeats = 9,
	.prepare = scan_prepare, .check = scan_check,
};
