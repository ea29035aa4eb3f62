// SPDX-License-Identifier: GPL-2.0
/*
 * FFT of 2^m complex points, by the six steps of D. H. Bailey, "FFTs in External or
 * Hierarchical Memory" (J. Supercomputing 4, 1990), the kernel of S. C. Woo et al.,
 * "The SPLASH-2 Programs" (ISCA 1995): the points are a square matrix, each thread
 * has a contiguous part of its rows, and threads talk to each other in transposes only.
 *
 *	1. transpose			4. transpose
 *	2. FFT of each row		5. FFT of each row
 *	3. multiply by the twiddles	6. transpose
 *
 * A transpose is done in square blocks of a line's width. A thread writes its own
 * rows and begins with what the thread after it has, so that not all read from one.
 *
 * No lock. The barrier separates the writers of a matrix from its readers: it stands
 * after steps 3, 5 and 6.
 */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "common/dump.h"
#include "common/splash.h"

/* Points to a line of 128 bytes. */
#define BLOCK 8

/* A power of two between rows would put a column into few sets of a cache: one line more. */
#define PADDING BLOCK

/* 48 GiB of memory; indices' products still fit 64 bits. */
#define MAX_M 30

/* Frequencies that are compared with the sum that defines them. */
#define SAMPLES 8

/*
 * An FFT's error, as a part of the points' size, is below a small multiple of
 * DBL_EPSILON * log2(points); it was seen to be below half of that.
 */
#define TOLERANCE (4 * DBL_EPSILON * (double)m)

struct point {
	double re, im;
};

static uint64_t m = 16;
static uint64_t n;
static const char *dump_name;

static size_t side, stride;		/* points of a row; and from row to row */
static struct point *input, *output;	/* the input is gone after the transform */
static struct point *twiddles;		/* exp(-2 pi i row column / n) */
static struct point *roots;		/* [half + k]: exp(-pi i k / half), k < half */
static uint32_t *reversed;		/* the bits of an index in reverse order */
static struct splash_barrier barrier;

static struct point root_of_unity(uint64_t k, uint64_t order)
{
	double angle = -2 * M_PI * (double)(k % order) / (double)order;

	return (struct point){ cos(angle), sin(angle) };
}

static struct point multiply(struct point a, struct point b)
{
	return (struct point){ a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re };
}

/* The input can be made again, row by row, when it is needed. Both parts in [-1, 1). */
static void make_row(uint64_t seed, size_t row, struct point *points)
{
	uint64_t state = splash_random_state(seed, row);

	for (size_t i = 0; i < side; i++) {
		points[i].re = 2 * splash_random_real(&state) - 1;
		points[i].im = 2 * splash_random_real(&state) - 1;
	}
}

static void settle_size(void)
{
	if (n) {
		if (n & (n - 1) || n < 4)
			splash_refuse("-n %" PRIu64 ": the number of points must be a power of 4", n);
		m = (uint64_t)__builtin_ctzll(n);
	}
	if (m % 2)
		splash_refuse("2^%" PRIu64 " points are no square matrix: choose an even -m, such "
			      "as %" PRIu64, m, m - 1);
	n = UINT64_C(1) << m;
	side = (size_t)1 << m / 2;
	stride = side + PADDING;
}

static void setup(const struct splash_options *opt)
{
	settle_size();
	if (opt->threads > side)
		splash_refuse("%u threads cannot share the %zu rows of 2^%" PRIu64 " points: choose "
			      "at most %zu threads, or a larger -m", opt->threads, side, m, side);

	input = splash_alloc(side, stride * sizeof(*input));
	output = splash_alloc(side, stride * sizeof(*output));
	twiddles = splash_alloc(side, stride * sizeof(*twiddles));
	roots = splash_alloc(side, sizeof(*roots));
	reversed = splash_alloc(side, sizeof(*reversed));
	splash_barrier_init(&barrier, opt->threads);

	for (size_t row = 0; row < side; row++) {
		make_row(opt->seed, row, &input[row * stride]);
		for (size_t i = 0; i < side; i++)
			twiddles[row * stride + i] = root_of_unity(row * i, n);
	}
	for (size_t half = 1; half < side; half *= 2)
		for (size_t k = 0; k < half; k++)
			roots[half + k] = root_of_unity(k, 2 * half);
	for (size_t i = 1; i < side; i++)
		reversed[i] = reversed[i / 2] / 2 + (uint32_t)(i % 2 * side / 2);
}

/* The rows `first` to `last` of `to` from the columns of the rows of thread `source`. */
static void transpose_from(const struct splash_worker *w, unsigned int source, size_t first,
			   size_t last, const struct point *from, struct point *to)
{
	size_t begin, end;

	splash_share(side, w->opt->threads, source, &begin, &end);
	for (size_t row = first; row < last; row += BLOCK)
		for (size_t column = begin; column < end; column += BLOCK)
			for (size_t i = row; i < row + BLOCK && i < last; i++)
				for (size_t j = column; j < column + BLOCK && j < end; j++)
					to[i * stride + j] = from[j * stride + i];
}

static void transpose(const struct splash_worker *w, const struct point *from, struct point *to)
{
	unsigned int threads = w->opt->threads;
	size_t first, last;

	splash_share(side, threads, w->id, &first, &last);
	for (unsigned int i = 1; i <= threads; i++)
		transpose_from(w, (w->id + i) % threads, first, last, from, to);
}

/* In place, decimation in time: the bits of the indices reversed, then butterflies. */
static void transform_row(struct point *row)
{
	for (size_t i = 0; i < side; i++) {
		size_t j = reversed[i];
		struct point saved = row[i];

		if (i < j) {
			row[i] = row[j];
			row[j] = saved;
		}
	}
	for (size_t half = 1; half < side; half *= 2)
		for (size_t block = 0; block < side; block += 2 * half)
			for (size_t k = block; k < block + half; k++) {
				struct point a = row[k];
				struct point b = multiply(roots[half + k - block], row[k + half]);

				row[k] = (struct point){ a.re + b.re, a.im + b.im };
				row[k + half] = (struct point){ a.re - b.re, a.im - b.im };
			}
}

static void transform(struct splash_worker *w)
{
	size_t first, last;

	splash_share(side, w->opt->threads, w->id, &first, &last);

	transpose(w, input, output);
	for (size_t row = first; row < last; row++) {
		transform_row(&output[row * stride]);
		for (size_t i = row * stride; i < row * stride + side; i++)
			output[i] = multiply(output[i], twiddles[i]);
	}
	splash_barrier(w, &barrier);

	transpose(w, output, input);
	for (size_t row = first; row < last; row++)
		transform_row(&input[row * stride]);
	splash_barrier(w, &barrier);

	transpose(w, input, output);
	splash_barrier(w, &barrier);
}

/* One frequency by its sum. The root runs along a row and is made anew for the next. */
static struct point frequency(uint64_t seed, uint64_t k, struct point *row)
{
	const long double turn = -2 * acosl(-1) / (long double)n;
	long double re = 0, im = 0, step_re = cosl(turn * k), step_im = sinl(turn * k);

	for (size_t i = 0; i < side; i++) {
		long double angle = turn * (i * side * k % n);
		long double root_re = cosl(angle), root_im = sinl(angle);

		make_row(seed, i, row);
		for (size_t j = 0; j < side; j++) {
			long double next = root_re * step_re - root_im * step_im;

			re += row[j].re * root_re - row[j].im * root_im;
			im += row[j].re * root_im + row[j].im * root_re;
			root_im = root_re * step_im + root_im * step_re;
			root_re = next;
		}
	}
	return (struct point){ (double)re, (double)im };
}

/*
 * What a frequency of n random points is expected to be: the root of the sum of the
 * points' squares, each 1/3 for either part. The points together are as large.
 */
static double expected_size(void)
{
	return sqrt(2.0 / 3 * (double)n);
}

static double distance(struct point a, struct point b)
{
	return hypot(a.re - b.re, a.im - b.im);
}

static void check_samples(uint64_t seed, struct point *row, struct verdict *verdict)
{
	uint64_t state = splash_random_state(seed, side);

	for (int i = 0; i < SAMPLES; i++) {
		uint64_t k = splash_random(&state) % n;
		double error = distance(output[k / side * stride + k % side],
					frequency(seed, k, row)) / expected_size();

		if (!(error <= TOLERANCE))
			verdict_fail(verdict, "frequency %" PRIu64 " is wrong by %.2g of its size, "
				     "more than %.2g", k, error, TOLERANCE);
	}
}

/* The inverse is the conjugate of the transform of the conjugate, divided by n. */
static void check_inverse(uint64_t seed, struct point *row, struct verdict *verdict)
{
	const struct splash_options alone = { .threads = 1 };
	struct splash_worker w = { .opt = &alone };
	double squares = 0;

	for (size_t i = 0; i < side * stride; i++)
		input[i] = (struct point){ output[i].re, -output[i].im };
	splash_barrier_init(&barrier, 1);
	transform(&w);
	for (size_t i = 0; i < side; i++) {
		make_row(seed, i, row);
		for (size_t j = 0; j < side; j++) {
			struct point p = output[i * stride + j];
			double error = distance(row[j], (struct point){ p.re / (double)n,
									-p.im / (double)n });

			squares += error * error;
		}
	}
	if (!(sqrt(squares) / expected_size() <= TOLERANCE))
		verdict_fail(verdict, "the inverse transform is off the input by %.2g of its size, "
			     "more than %.2g", sqrt(squares) / expected_size(), TOLERANCE);
}

/* The input and the transform, n points each. */
static void dump(uint64_t seed, struct point *row)
{
	FILE *file = dump_open(dump_name);

	for (size_t i = 0; i < side; i++) {
		make_row(seed, i, row);
		dump_doubles(file, dump_name, &row->re, 2 * side);
	}
	for (size_t i = 0; i < side; i++)
		dump_doubles(file, dump_name, &output[i * stride].re, 2 * side);
	dump_close(file, dump_name);
}

static void check(const struct splash_options *opt, struct verdict *verdict)
{
	struct point *row = splash_alloc(side, sizeof(*row));

	if (dump_name)
		dump(opt->seed, row);
	check_samples(opt->seed, row, verdict);
	check_inverse(opt->seed, row, verdict);
	free(row);
}

/* Each frequency with a weight of its own: two that are swapped change the sum. */
static double result(void)
{
	uint64_t state = splash_random_state(0, 0);
	double sum = 0;

	for (size_t row = 0; row < side; row++)
		for (size_t i = row * stride; i < row * stride + side; i++) {
			sum += output[i].re * splash_random_real(&state);
			sum += output[i].im * splash_random_real(&state);
		}
	return sum;
}

static const struct splash_number numbers[] = {
	{ "m", "2^m points; m is even", &m, 2, MAX_M },
	{ "n", "the points themselves, a power of 4; 0: what -m says", &n, 0, UINT64_C(1) << MAX_M },
	{ 0 }
};

static const struct splash_word words[] = {
	{ "dump", "a file for the input and the transform, as pairs of doubles", &dump_name },
	{ 0 }
};

const struct splash_program program = {
	.name = "fft",
	.about = "Complex FFT in six steps, on a square matrix of points. Any number of threads up to "
		 "its rows, 2^(m/2). The paper's size: -m24.",
	.numbers = numbers,
	.words = words,
	.setup = setup,
	.work = transform,
	.check = check,
	.result = result,
};
