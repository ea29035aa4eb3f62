/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* As sort, but each half is sorted at its node; its tasks may be stolen. */
static void sort_make(struct par_node *nodes, void *arg)
{
	struct sort_call *halves = (struct sort_call *)arg;

	for (unsigned int i = 0; i < 2; i++) {
		const void *use = halves[i].values;

		par_node(&nodes[i],
			 bench_spread == LOCALITY_BEST ? par_dispatch(&use, 1) : PAR_ANYWHERE,
			 sort_task, &halves[i], NULL, NULL);
	}
}

static void sort_spread_run(void)
{
	size_t n = bench_sort.n, half = n / 2;
	int32_t *values = bench_sort.values, *scratch = bench_sort.scratch;
	struct sort_call halves[] = { { values, scratch, half, true },
				      { values + half, scratch + half, n - half, true } };
	struct par_node nodes[2];

	for (unsigned int i = 0; i < 2; i++)
		par_bind(halves[i].values, halves[i].n * sizeof(int32_t));
	par_graph(sort_make, nodes, 2, halves);
	merge(values, scratch, half, scratch + half, n - half);
	par_forget();
}
