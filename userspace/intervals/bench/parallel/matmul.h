/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* c += a * b, for squares of `size` inside the matrices. */
struct matmul_square {
	const double *a, *b;
	double *c;
	size_t size;
};

static void matmul_task(void *arg);

/* The four quarters of c at the same time, each += one quarter of a times one of b. */
static void matmul_quarters(const struct matmul_square *square, unsigned int step)
{
	size_t half = square->size / 2, down = half * bench_matmul.n;
	struct matmul_square quarters[4];
	struct par_task tasks[3];
	PAR_SCOPE(scope);

	for (unsigned int i = 0; i < 4; i++) {
		unsigned int row = i / 2, column = i % 2;

		quarters[i].a = square->a + row * down + step * half;
		quarters[i].b = square->b + step * down + column * half;
		quarters[i].c = square->c + row * down + column * half;
		quarters[i].size = half;
	}
	/* Without thieves the order is upwards, as rayon's join() has it: the cache is filled ahead. */
	for (unsigned int i = 3; i; i--)
		par_spawn(&scope, &tasks[i - 1], matmul_task, &quarters[i]);
	matmul_task(&quarters[0]);
	par_sync(&scope);
}

static void matmul_task(void *arg)
{
	struct matmul_square *square = (struct matmul_square *)arg;

	if (square->size == MATMUL_LEAF) {
		matmul_leaf(square->a, square->b, square->c, bench_matmul.n);
		return;
	}
	matmul_quarters(square, 0);
	matmul_quarters(square, 1);
}

static void matmul_run(void)
{
	struct matmul_square all = { bench_matmul.a, bench_matmul.b, bench_matmul.c,
				     bench_matmul.n };

	matmul_task(&all);
}
