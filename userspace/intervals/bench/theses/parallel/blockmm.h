/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* c = a * b */
struct blockmm_product {
	struct bench_square a, b, c;
	size_t size;
	unsigned int place;		/* LOCALITY_NONE: the quarters' own */
};

/* c += more, after both products are there. */
struct blockmm_sum {
	struct bench_square c, more;
	size_t size;
};

struct blockmm_quarters {
	struct blockmm_product products[8];
	struct blockmm_sum sums[4];
};

static void blockmm_task(void *arg);

static void blockmm_sum(void *arg)
{
	struct blockmm_sum *sum = (struct blockmm_sum *)arg;

	square_add(sum->size, sum->c, sum->more);
}

static void blockmm_make(struct par_node *nodes, void *arg)
{
	struct blockmm_quarters *quarters = (struct blockmm_quarters *)arg;

	for (unsigned int i = 0; i < 8; i++)
		par_node(&nodes[i], quarters->products[i].place, blockmm_task,
			 &quarters->products[i], NULL, NULL);
	for (unsigned int i = 0; i < 4; i++)
		par_node(&nodes[8 + i], blockmm_sum_place(quarters->products[2 * i].place),
			 blockmm_sum, &quarters->sums[i], &nodes[2 * i], &nodes[2 * i + 1]);
}

/* The first product of each quarter goes to where the sum will be, the second to `more`. */
static void blockmm_divide(const struct blockmm_product *whole, double *more,
			   struct blockmm_quarters *quarters)
{
	size_t half = whole->size / 2;

	for (unsigned int i = 0; i < 4; i++) {
		unsigned int row = i / 2, column = i % 2;
		struct blockmm_sum *sum = &quarters->sums[i];

		sum->c = square_part(whole->c, half, row, column);
		sum->more.at = more + i * half * half;
		sum->more.stride = half;
		sum->size = half;
		for (unsigned int step = 0; step < 2; step++) {
			struct blockmm_product *product = &quarters->products[2 * i + step];

			product->a = square_part(whole->a, half, row, step);
			product->b = square_part(whole->b, half, step, column);
			product->c = step ? sum->more : sum->c;
			product->size = half;
			product->place =
				whole->place == LOCALITY_NONE ? blockmm_place(i) : whole->place;
		}
	}
}

static void blockmm_task(void *arg)
{
	struct blockmm_product *product = (struct blockmm_product *)arg;
	struct blockmm_quarters quarters;
	struct par_node nodes[12];
	double *more;

	if (product->size == BLOCKMM_LEAF) {
		square_multiply(BLOCKMM_LEAF, product->c, product->a, product->b);
		return;
	}
	more = (double *)malloc(product->size * product->size * sizeof(double));
	/* Without memory the product is missing, and the check fails. */
	if (!more)
		return;
	blockmm_divide(product, more, &quarters);
	par_graph(blockmm_make, nodes, 12, &quarters);
	free(more);
}

static void blockmm_run(void)
{
	size_t n = bench_matmul.n;
	struct blockmm_product whole = { { bench_matmul.a, n }, { bench_matmul.b, n },
					 { bench_matmul.c, n }, n, LOCALITY_NONE };

	blockmm_task(&whole);
}
