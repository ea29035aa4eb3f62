// SPDX-License-Identifier: GPL-2.0
/*
 * Cholesky factorisation of a sparse matrix, A = L L^T, by blocks: the kernel of S. C.
 * Woo et al., "The SPLASH-2 Programs" (ISCA 1995). Setting up orders the equations and
 * finds the structure of L; the parallel phase, in fanout.c, is its numbers. Papers,
 * locks and barriers: order.c, mindegree.c, symbolic.c, assign.c, tasks.h, fanout.c.
 */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/splash.h"
#include "dense.h"
#include "fanout.h"
#include "order.h"
#include "solve.h"

#define DEFAULT_GRID 12

/* 1024^3 is the largest order; a dense matrix of 65,536 has 2^31 entries. */
#define MAX_GRID 1024
#define MAX_DENSE 65536

static uint64_t grid, dense, width = 32;
static const char *file, *order_name, *dump_name;

static struct matrix a;
static struct factor factor;

static uint32_t *choose_order(void)
{
	if (!order_name)
		order_name = dense ? "natural" : grid ? "dissection" : "mindegree";
	if (strcmp(order_name, "natural") == 0)
		return order_natural(a.n);
	if (strcmp(order_name, "mindegree") == 0)
		return order_minimum_degree(&a);
	if (strcmp(order_name, "dissection") != 0)
		splash_refuse("--order %s: must be natural, mindegree or dissection", order_name);
	if (!grid)
		splash_refuse("--order dissection: is for --grid only; choose mindegree");
	return order_dissection((uint32_t)grid);
}

static void setup(const struct splash_options *opt)
{
	if (!!grid + !!dense + !!file > 1)
		splash_refuse("choose one of --matrix, --grid and --dense");
	if (file) {
		a = matrix_read(file);
	} else if (dense) {
		a = matrix_dense((uint32_t)dense, opt->seed);
	} else {
		if (!grid)
			grid = DEFAULT_GRID;
		a = matrix_grid((uint32_t)grid, opt->seed);
	}
	factor = factor_prepare(&a, choose_order(), (uint32_t)width);
	fanout_init(&factor, opt->threads);
}

/*
 * The bound on the error of a solution with a computed factor: N. J. Higham, "Accuracy and
 * Stability of Numerical Algorithms", theorem 10.4.
 */
static void check(const struct splash_options *opt, struct verdict *verdict)
{
	double residual, bound = 3 * ((double)a.n + 1) * DBL_EPSILON;

	if (dump_name)
		dense_dump(dump_name, &a, &factor);
	fanout_check(opt->threads, verdict);
	residual = solve_residual(&a, &factor, opt->seed);
	if (!(residual <= bound))
		verdict_fail(verdict, "A x = b is solved with a relative residual of %.3g, not "
			     "%.3g at most", residual, bound);
}

static double result(void)
{
	return solve_log_determinant(&factor);
}

static const struct splash_number numbers[] = {
	{ "grid", "edge of a grid of points, joined to six neighbours each: a sparse matrix of "
	  "the order N^3; 12 when no matrix is chosen (0: none)", &grid, 1, MAX_GRID },
	{ "dense", "order of a dense matrix; 750 is the published one (0: none)", &dense, 1,
	  MAX_DENSE },
	{ "block", "widest panel of columns, and so block", &width, 1, MAX_BLOCK },
	{ 0 }
};

static const struct splash_word words[] = {
	{ "matrix", "a Harwell-Boeing or Rutherford-Boeing file of type RSA, ISA or PSA", &file },
	{ "order", "of elimination: natural, mindegree or dissection (of --grid); default: "
	  "dissection of --grid, mindegree of --matrix, natural of --dense", &order_name },
	{ "dump", "a file for the matrix and for its factor, both dense, as doubles, row by row",
	  &dump_name },
	{ 0 }
};

const struct splash_program program = {
	.name = "cholesky",
	.about = "Blocked sparse Cholesky factorisation, with a task queue for each thread. Any "
		 "number of threads.",
	.numbers = numbers,
	.words = words,
	.setup = setup,
	.work = fanout_work,
	.check = check,
	.result = result,
};
