/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* c = a * b */
struct strassen_call {
	struct bench_square a, b, c;
	size_t size;
};

/* One of the seven: its factors and itself are squares of the half. */
struct strassen_product {
	const struct strassen_call *whole;
	unsigned int number;
	struct strassen_call call;
};

static void strassen_divide(const struct strassen_call *call);

static void strassen_multiply(const struct strassen_call *call)
{
	if (call->size == STRASSEN_LEAF)
		square_multiply(STRASSEN_LEAF, call->c, call->a, call->b);
	else
		strassen_divide(call);
}

static void strassen_task(void *arg)
{
	struct strassen_product *product = (struct strassen_product *)arg;
	struct strassen_call *call = &product->call;

	strassen_factors(product->number, call->size, product->whole->a, product->whole->b,
			 call->a, call->b);
	strassen_multiply(call);
}

static void strassen_divide(const struct strassen_call *call)
{
	size_t half = call->size / 2, square = half * half;
	double *memory = (double *)malloc(3 * STRASSEN_PRODUCTS * square * sizeof(double));
	struct strassen_product products[STRASSEN_PRODUCTS];
	struct bench_square results[STRASSEN_PRODUCTS];
	struct par_task tasks[STRASSEN_PRODUCTS];
	PAR_SCOPE(scope);

	/* The product is missing then, and the check says so. */
	if (!memory)
		return;
	for (unsigned int i = 0; i < STRASSEN_PRODUCTS; i++) {
		struct strassen_call *part = &products[i].call;

		products[i].whole = call;
		products[i].number = i;
		part->a.at = memory + 3 * i * square;
		part->b.at = part->a.at + square;
		part->c.at = part->b.at + square;
		part->a.stride = part->b.stride = part->c.stride = part->size = half;
		results[i] = part->c;
		par_spawn(&scope, &tasks[i], strassen_task, &products[i]);
	}
	par_sync(&scope);
	strassen_result(half, call->c, results);
	free(memory);
}

static void strassen_run(void)
{
	size_t n = bench_matmul.n;
	struct strassen_call all = { { bench_matmul.a, n }, { bench_matmul.b, n },
				     { bench_matmul.c, n }, n };

	strassen_multiply(&all);
}
