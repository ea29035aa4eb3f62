// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Java Grande's SOR: red-black over-relaxation of doubles, two rows of one colour at a time. It
 * draws Java's random numbers, on which the published sums depend.
 */
#include "theses.h"

#define OMEGA 1.25
#define SEED 10101010
#define TOLERANCE 1e-12

struct bench_jgf_sor bench_jgf_sor;

static double *initial, sum_expected;

static const struct {
	unsigned int size;
	double sum;
} published[] = {
	{ 1000, 0.498574406322512 }, { 1500, 1.1234778980135105 }, { 2000, 1.9954895063582696 },
};

/* The next random number of `bits` bits, as java.util.Random draws it. */
static uint64_t next_bits(uint64_t *state, unsigned int bits)
{
	*state = (*state * UINT64_C(0x5deece66d) + 11) & ((UINT64_C(1) << 48) - 1);
	return *state >> (48 - bits);
}

static double next_double(uint64_t *state)
{
	uint64_t high = next_bits(state, 26);

	return (double)((high << 27) + next_bits(state, 27)) / 9007199254740992.0;
}

static void relax(size_t row, size_t column)
{
	size_t n = bench_jgf_sor.n;
	double *at = bench_jgf_sor.cells + row * n;

	for (size_t j = column; j < n - 1; j += 2)
		at[j] = OMEGA * 0.25 * (at[j - n] + at[j + n] + at[j - 1] + at[j + 1]) +
			(1.0 - OMEGA) * at[j];
}

size_t jgf_sor_count(unsigned int colour)
{
	return (bench_jgf_sor.n - colour) / 2;
}

void jgf_sor_pairs(size_t begin, size_t end, unsigned int colour)
{
	for (size_t i = begin; i < end; i++) {
		size_t row = 1 + colour + 2 * i;

		if (row < bench_jgf_sor.n - 1)
			relax(row, 1);
		if (row > 1)
			relax(row - 1, 2);
	}
}

/* In the suite's order. */
static double sum(void)
{
	size_t n = bench_jgf_sor.n;
	double all = 0;

	for (size_t i = 1; i < n - 1; i++)
		for (size_t j = 1; j < n - 1; j++)
			all += bench_jgf_sor.cells[i * n + j];
	return all;
}

static void find_expected(size_t n)
{
	for (size_t i = 0; i < sizeof(published) / sizeof(published[0]); i++) {
		sum_expected = published[i].sum;
		if (published[i].size == n)
			return;
	}
	for (unsigned int i = 0; i < 2 * JGF_SOR_ITERATIONS; i++)
		jgf_sor_pairs(0, jgf_sor_count(i % 2), i % 2);
	sum_expected = sum();
}

/* The order of one colour's cells does not change the result. */
static int prepare(unsigned int size)
{
	size_t cells = (size_t)size * size;
	uint64_t state = SEED ^ UINT64_C(0x5deece66d);

	if (size < 3)
		return EINVAL;
	if (bench_jgf_sor.n != size) {
		bench_jgf_sor.n = size;
		bench_jgf_sor.cells = square_alloc(size, sizeof(double));
		initial = square_alloc(size, sizeof(double));
		if (!bench_jgf_sor.cells || !initial)
			return ENOMEM;
		for (size_t i = 0; i < cells; i++)
			initial[i] = next_double(&state) * 1e-6;
		memcpy(bench_jgf_sor.cells, initial, cells * sizeof(double));
		find_expected(size);
	}
	memcpy(bench_jgf_sor.cells, initial, cells * sizeof(double));
	return 0;
}

static bool check(void)
{
	return fabs(sum() - sum_expected) <= TOLERANCE;
}

const struct bench_kernel bench_kernel_jgf_sor = {
	.name = "jgf_sor", .size = 2000, .quick_size = 100, .warmups = 0, .repeats = 3,
	.prepare = prepare, .check = check,
};
