// SPDX-License-Identifier: GPL-2.0
/*
 * Blocked dense LU factorisation without pivoting, right-looking, in place: the kernel
 * of S. C. Woo et al., "The SPLASH-2 Programs" (ISCA 1995), after S. C. Woo, J. P.
 * Singh and J. L. Hennessy, "The Performance Advantages of Integrating Block Data
 * Transfer in Cache-Coherent Multiprocessors" (ASPLOS 1994). Step k:
 *
 *	1. the owner of diagonal block (k, k) factors it
 *	2. the owners of the blocks below it and right of it solve for L's and U's
 *	3. the owners of the blocks (i, j) beyond subtract L(i, k) U(k, j)
 *
 * Blocks are dealt out to a grid of threads that repeats over the matrix (2-D scatter),
 * and only its owner writes to a block.
 *
 * No lock. The barrier stands after 1 and 2, between the writer of a block and its
 * readers. None is needed after 3: in the next step, a block is first used by its owner.
 */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "common/dump.h"
#include "lu.h"

#define MAX_N 65536
#define MAX_B 1024

/* Vectors that the factors are tried with. */
#define SAMPLES 4

static uint64_t n = 512, b = 16;
static const char *dump_name;

static struct lu_shape shape;
static unsigned int grid_rows, grid_columns;
static struct splash_barrier barrier;

const struct splash_number lu_numbers[] = {
	{ "n", "rows and columns of the matrix", &n, 1, MAX_N },
	{ "b", "rows and columns of a block", &b, 1, MAX_B },
	{ 0 }
};

const struct splash_word lu_words[] = {
	{ "dump", "a file for the matrix and for its factors in one, as doubles, row by row",
	  &dump_name },
	{ 0 }
};

unsigned int lu_owner(size_t row, size_t column)
{
	return (unsigned int)(row % grid_rows * grid_columns + column % grid_columns);
}

/*
 * Uniform in [-1, 1), and the diagonal as large as a row: without pivoting, elements
 * grow by less than a factor of two.
 */
static void make_row(uint64_t seed, size_t i, double *row)
{
	uint64_t state = splash_random_state(seed, i);

	for (size_t j = 0; j < shape.n; j++)
		row[j] = 2 * splash_random_real(&state) - 1;
	row[i] += (double)shape.n;
}

/* Row i of the matrix as its blocks have it now. */
static double *row_in_block(size_t i, size_t column)
{
	struct lu_block block = lu_block(i / shape.b, column);

	return block.at + i % shape.b * block.stride;
}

static size_t extent(size_t block)
{
	size_t rest = shape.n - block * shape.b;

	return rest < shape.b ? rest : shape.b;
}

static void put_row(size_t i, const double *row)
{
	for (size_t column = 0; column < shape.blocks; column++)
		for (size_t j = 0; j < extent(column); j++)
			row_in_block(i, column)[j] = row[column * shape.b + j];
}

static void get_row(size_t i, double *row)
{
	for (size_t column = 0; column < shape.blocks; column++)
		for (size_t j = 0; j < extent(column); j++)
			row[column * shape.b + j] = row_in_block(i, column)[j];
}

/* As square as can be; more rows than columns. */
static void make_grid(unsigned int threads)
{
	grid_columns = (unsigned int)sqrt(threads);
	while (threads % grid_columns)
		grid_columns--;
	grid_rows = threads / grid_columns;
}

void lu_setup(const struct splash_options *opt)
{
	double *row;

	if (b > n)
		splash_refuse("blocks of %" PRIu64 " x %" PRIu64 " are larger than the matrix, %" PRIu64
			      " x %" PRIu64 ": choose a smaller -b or a larger -n", b, b, n, n);
	shape = (struct lu_shape){ .n = n, .b = b, .blocks = (n + b - 1) / b,
				   .threads = opt->threads };
	make_grid(opt->threads);
	if (grid_rows > shape.blocks)
		splash_refuse("%u threads form a grid of %u x %u, and the matrix has %zu x %zu blocks "
			      "only: choose fewer threads, a number that is nearer to a square, a "
			      "larger -n or a smaller -b", opt->threads, grid_rows, grid_columns,
			      shape.blocks, shape.blocks);

	lu_allocate(&shape);
	splash_barrier_init(&barrier, opt->threads);
	row = splash_alloc(shape.n, sizeof(*row));
	for (size_t i = 0; i < shape.n; i++) {
		make_row(opt->seed, i, row);
		put_row(i, row);
	}
	free(row);
}

static void subtract(double *restrict to, double factor, const double *restrict from, size_t count)
{
	for (size_t j = 0; j < count; j++)
		to[j] -= factor * from[j];
}

/* A row of L from a row of A: x U = a for the first `count` columns of a larger U. */
static void solve_row(double *a, struct lu_block u, size_t count, size_t width)
{
	for (size_t k = 0; k < count; k++) {
		const double *row = u.at + k * u.stride;

		a[k] /= row[k];
		subtract(a + k + 1, a[k], row + k + 1, width - k - 1);
	}
}

static void factor_diagonal(size_t k)
{
	struct lu_block d = lu_block(k, k);

	for (size_t i = 1; i < extent(k); i++)
		solve_row(d.at + i * d.stride, d, i, extent(k));
}

/* A block below the diagonal becomes one of L. */
static void solve_below(size_t i, size_t k)
{
	struct lu_block a = lu_block(i, k);

	for (size_t row = 0; row < extent(i); row++)
		solve_row(a.at + row * a.stride, lu_block(k, k), extent(k), extent(k));
}

/* A block right of the diagonal becomes one of U. */
static void solve_right(size_t k, size_t j)
{
	struct lu_block a = lu_block(k, j), l = lu_block(k, k);

	for (size_t row = 1; row < extent(k); row++)
		for (size_t i = 0; i < row; i++)
			subtract(a.at + row * a.stride, l.at[row * l.stride + i],
				 a.at + i * a.stride, extent(j));
}

/*
 * Four rows of U at a time: that many fewer loads and stores of what is subtracted from.
 * They are used for all rows of a block while a cache has them: not all of a block's
 * rows need fit one set, where lu_noncontiguous may have them.
 */
#define UNROLL 4

static void subtract_four(double *restrict to, const double *restrict l, struct lu_block u,
			  size_t columns)
{
	for (size_t j = 0; j < columns; j++)
		to[j] -= l[0] * u.at[j] + l[1] * u.at[j + u.stride] +
			 l[2] * u.at[j + 2 * u.stride] + l[3] * u.at[j + 3 * u.stride];
}

static void subtract_product(size_t i, size_t j, size_t k)
{
	struct lu_block a = lu_block(i, j), l = lu_block(i, k), u = lu_block(k, j);
	size_t rows = extent(i), columns = extent(j), rest = extent(k);

	for (; rest >= UNROLL; rest -= UNROLL) {
		for (size_t row = 0; row < rows; row++)
			subtract_four(a.at + row * a.stride, l.at + row * l.stride, u, columns);
		l.at += UNROLL;
		u.at += UNROLL * u.stride;
	}
	for (; rest; rest--) {
		for (size_t row = 0; row < rows; row++)
			subtract(a.at + row * a.stride, l.at[row * l.stride], u.at, columns);
		l.at++;
		u.at += u.stride;
	}
}

/* The first number, `start` or larger, that is `mine` modulo `period`. */
static size_t first_mine(size_t start, size_t mine, size_t period)
{
	return start + (mine + period - start % period) % period;
}

static void solve_perimeter(size_t k, size_t row, size_t column)
{
	if (k % grid_columns == column)
		for (size_t i = first_mine(k + 1, row, grid_rows); i < shape.blocks; i += grid_rows)
			solve_below(i, k);
	if (k % grid_rows == row)
		for (size_t j = first_mine(k + 1, column, grid_columns); j < shape.blocks;
		     j += grid_columns)
			solve_right(k, j);
}

static void update_interior(size_t k, size_t row, size_t column)
{
	for (size_t i = first_mine(k + 1, row, grid_rows); i < shape.blocks; i += grid_rows)
		for (size_t j = first_mine(k + 1, column, grid_columns); j < shape.blocks;
		     j += grid_columns)
			subtract_product(i, j, k);
}

void lu_work(struct splash_worker *w)
{
	/* The thread's place in the grid. */
	size_t row = w->id / grid_columns, column = w->id % grid_columns;

	for (size_t k = 0; k < shape.blocks; k++) {
		if (lu_owner(k, k) == w->id)
			factor_diagonal(k);
		splash_barrier(w, &barrier);
		solve_perimeter(k, row, column);
		splash_barrier(w, &barrier);
		update_interior(k, row, column);
	}
}

/* A vector of signs, as one is as good as another to show an element that is wrong. */
static double sign(uint64_t *state)
{
	return splash_random(state) >> 63 ? 1 : -1;
}

/*
 * The computed factors are the factors of a matrix near A: |A - LU| <= u n |L| |U| for each
 * element, u being half of DBL_EPSILON (N. J. Higham, "Accuracy and Stability of
 * Numerical Algorithms", theorem 9.3). So |A x - L (U x)| has the bound u n |L| |U| |x|.
 * The products here are of a higher precision.
 */
static void check_vector(uint64_t seed, uint64_t sample, struct verdict *verdict)
{
	double *x = splash_alloc(shape.n, sizeof(*x)), *row = splash_alloc(shape.n, sizeof(*row));
	long double *ux = splash_alloc(shape.n, sizeof(*ux));
	long double *abs_ux = splash_alloc(shape.n, sizeof(*abs_ux));
	uint64_t state = splash_random_state(seed, shape.n + sample);

	for (size_t i = 0; i < shape.n; i++)
		x[i] = sign(&state);
	for (size_t i = 0; i < shape.n; i++) {
		get_row(i, row);
		for (size_t j = i; j < shape.n; j++) {
			ux[i] += row[j] * (long double)x[j];
			abs_ux[i] += fabs(row[j]);
		}
	}
	for (size_t i = 0; i < shape.n; i++) {
		long double difference = -ux[i], bound = abs_ux[i];

		get_row(i, row);
		for (size_t k = 0; k < i; k++) {
			difference -= row[k] * ux[k];
			bound += fabs(row[k]) * abs_ux[k];
		}
		bound *= DBL_EPSILON / 2 * (long double)shape.n;
		make_row(seed, i, row);
		for (size_t j = 0; j < shape.n; j++)
			difference += row[j] * (long double)x[j];
		if (!(fabsl(difference) <= bound && isfinite(bound)))
			verdict_fail(verdict, "A x - L U x is %.2Lg in row %zu, more than %.2Lg",
				     difference, i, bound);
	}
	free(x);
	free(row);
	free(ux);
	free(abs_ux);
}

static void dump(uint64_t seed)
{
	double *row = splash_alloc(shape.n, sizeof(*row));
	FILE *file = dump_open(dump_name);

	for (size_t i = 0; i < shape.n; i++) {
		make_row(seed, i, row);
		dump_doubles(file, dump_name, row, shape.n);
	}
	for (size_t i = 0; i < shape.n; i++) {
		get_row(i, row);
		dump_doubles(file, dump_name, row, shape.n);
	}
	dump_close(file, dump_name);
	free(row);
}

void lu_check(const struct splash_options *opt, struct verdict *verdict)
{
	if (dump_name)
		dump(opt->seed);
	for (uint64_t sample = 0; sample < SAMPLES; sample++)
		check_vector(opt->seed, sample, verdict);
}

/* Each element with a weight of its own: two that are swapped change the sum. */
double lu_result(void)
{
	double *row = splash_alloc(shape.n, sizeof(*row)), sum = 0;
	uint64_t state = splash_random_state(0, 0);

	for (size_t i = 0; i < shape.n; i++) {
		get_row(i, row);
		for (size_t j = 0; j < shape.n; j++)
			sum += row[j] * splash_random_real(&state);
	}
	free(row);
	return sum;
}
