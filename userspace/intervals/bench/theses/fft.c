// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Fast Fourier transform (BOTS), after Cooley and Tukey: of the even elements and of the odd ones,
 * down to a leaf, and then their combination. The input is a geometric series, of which each
 * coefficient is known.
 */
#include <complex.h>

#include "theses.h"

/* It turns by one radian with each element, and fades to a tenth. */
#define TURN 1.0
#define FADED 0.1

struct bench_fft bench_fft;

static double complex *input, *output, *roots;

/* Element j of the input. */
static double complex element(size_t j)
{
	return cexp((double)j * (log(FADED) / (double)bench_fft.n + I * TURN));
}

/* The unit's root by which a coefficient's terms turn. */
static double complex root(size_t k)
{
	return cexp(-2 * M_PI * I * (double)k / (double)bench_fft.n);
}

/* Each second or fourth or ... element of the input, from one on, to `count` of the output. */
void fft_leaf(size_t from, size_t stride, size_t to, size_t count)
{
	if (count == 1) {
		output[to] = input[from];
		return;
	}
	fft_leaf(from, 2 * stride, to, count / 2);
	fft_leaf(from + stride, 2 * stride, to + count / 2, count / 2);
	fft_combine(to, count, 0, count / 2);
}

/* The pairs begin to end of two halves. */
void fft_combine(size_t to, size_t count, size_t begin, size_t end)
{
	double complex *even = output + to, *odd = even + count / 2;

	for (size_t k = begin; k < end; k++) {
		double complex turned = roots[k * (bench_fft.n / count)] * odd[k];

		odd[k] = even[k] - turned;
		even[k] += turned;
	}
}

static bool allocate(size_t n)
{
	bench_fft.n = n;
	input = malloc(n * sizeof(*input));
	output = malloc(n * sizeof(*output));
	roots = malloc(n / 2 * sizeof(*roots));
	if (!input || !output || !roots)
		return false;
	for (size_t j = 0; j < n; j++)
		input[j] = element(j);
	for (size_t k = 0; k < n / 2; k++)
		roots[k] = root(k);
	return true;
}

static int prepare(unsigned int size)
{
	if (size < 2 * FFT_LEAF || size & (size - 1))
		return EINVAL;
	if (bench_fft.n != size && !allocate(size))
		return ENOMEM;
	memset(output, 0, size * sizeof(*output));
	return 0;
}

/* The sum of a geometric series. */
static bool check(void)
{
	size_t n = bench_fft.n;

	for (size_t k = 0; k < n; k++) {
		double complex right = (1 - element(n)) / (1 - element(1) * root(k));

		if (!(cabs(output[k] - right) < 1e-9 * (cabs(right) + 1)))
			return false;
	}
	return true;
}

const struct bench_kernel bench_kernel_fft = {
	.name = "fft", .size = 33554432, .quick_size = 16384, .warmups = 0, .repeats = 3,
	.prepare = prepare, .check = check,
};
