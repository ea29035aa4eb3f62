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

/* What the products are made of, all in `memory`; and their results. */
static void strassen_parts(const struct strassen_call *call, double *memory,
			   struct strassen_product *products, struct bench_square *results)
{
	size_t half = call->size / 2, square = half * half;

	for (unsigned int i = 0; i < STRASSEN_PRODUCTS; i++) {
		struct strassen_call *part = &products[i].call;

		products[i].whole = call;
		products[i].number = i;
		part->a.at = memory + 3 * i * square;
		part->b.at = part->a.at + square;
		part->c.at = part->b.at + square;
		part->a.stride = part->b.stride = part->c.stride = part->size = half;
		results[i] = part->c;
	}
}

static double *strassen_memory(size_t half)
{
	return (double *)malloc(3 * STRASSEN_PRODUCTS * half * half * sizeof(double));
}

static void strassen_divide(const struct strassen_call *call)
{
	size_t half = call->size / 2;
	double *memory = strassen_memory(half);
	struct strassen_product products[STRASSEN_PRODUCTS];
	struct bench_square results[STRASSEN_PRODUCTS];
	struct par_task tasks[STRASSEN_PRODUCTS];
	PAR_SCOPE(scope);

	/* The product is missing then, and the check says so. */
	if (!memory)
		return;
	strassen_parts(call, memory, products, results);
	for (unsigned int i = 0; i < STRASSEN_PRODUCTS; i++)
		par_spawn(&scope, &tasks[i], strassen_task, &products[i]);
	par_sync(&scope);
	strassen_result(half, call->c, results);
	free(memory);
}

static struct strassen_call strassen_whole(void)
{
	size_t n = bench_matmul.n;
	struct strassen_call all = { { bench_matmul.a, n }, { bench_matmul.b, n },
				     { bench_matmul.c, n }, n };

	return all;
}

static void strassen_run(void)
{
	struct strassen_call all = strassen_whole();

	strassen_multiply(&all);
}

static unsigned int strassen_place(const struct strassen_product *product)
{
	const void *uses[STRASSEN_HALVES];

	if (bench_spread != LOCALITY_BEST)
		return PAR_ANYWHERE;
	return par_dispatch(uses, strassen_halves(product->number, product->call.size,
						  product->whole->a, product->whole->b, uses));
}

static void strassen_make(struct par_node *nodes, void *arg)
{
	struct strassen_product *products = (struct strassen_product *)arg;

	for (unsigned int i = 0; i < STRASSEN_PRODUCTS; i++)
		par_node(&nodes[i], strassen_place(&products[i]), strassen_task, &products[i],
			 NULL, NULL);
}

/* The outermost products run where most of their factors are; theirs are stolen as any. */
static void strassen_spread_run(void)
{
	struct strassen_call all = strassen_whole();
	size_t half = all.size / 2;
	double *memory = strassen_memory(half);
	struct strassen_product products[STRASSEN_PRODUCTS];
	struct bench_square results[STRASSEN_PRODUCTS];
	struct par_node nodes[STRASSEN_PRODUCTS];

	/* As in strassen_divide(). */
	if (!memory)
		return;
	for (unsigned int i = 0; i < 2; i++) {
		par_bind(square_part(all.a, half, i, 0).at, half * all.size * sizeof(double));
		par_bind(square_part(all.b, half, i, 0).at, half * all.size * sizeof(double));
	}
	strassen_parts(&all, memory, products, results);
	par_graph(strassen_make, nodes, STRASSEN_PRODUCTS, products);
	strassen_result(half, all.c, results);
	free(memory);
	par_forget();
}
