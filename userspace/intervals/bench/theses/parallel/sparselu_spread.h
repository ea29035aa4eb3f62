/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* As version "single", but each task runs at most of the blocks that it uses. */
static unsigned int sparselu_place(const struct sparselu_call *call)
{
	const void *uses[] = { sparselu_block(call->i, call->j), sparselu_block(call->i, call->k),
			       sparselu_block(call->k, call->j) };

	return bench_spread == LOCALITY_BEST ? par_dispatch(uses, 3) : PAR_ANYWHERE;
}

/* What falls on an absent block is where its task is. */
static void sparselu_bound_task(void *arg)
{
	struct sparselu_call *call = (struct sparselu_call *)arg;
	bool absent = !sparselu_block(call->i, call->j);

	sparselu_task(call);
	if (absent && sparselu_block(call->i, call->j))
		par_bind(sparselu_block(call->i, call->j), SPARSELU_BYTES);
}

static void sparselu_make(struct par_node *nodes, void *arg)
{
	struct sparselu_calls *all = (struct sparselu_calls *)arg;

	for (size_t c = 0; c < all->count; c++)
		par_node(&nodes[c], sparselu_place(&all->calls[c]), sparselu_bound_task,
			 &all->calls[c], NULL, NULL);
}

static void sparselu_spread_run(void)
{
	size_t n = bench_sparselu.n;
	struct sparselu_calls all = { sparselu_memory(), 0 };
	struct par_node *nodes = (struct par_node *)malloc((n * n + 1) * sizeof(struct par_node));

	for (size_t b = 0; b < n * n; b++)
		if (bench_sparselu.blocks[b])
			par_bind(bench_sparselu.blocks[b], SPARSELU_BYTES);
	for (size_t k = 0; all.calls && nodes && k < n; k++) {
		sparselu_decompose(k);
		sparselu_find_edges(k, &all);
		par_graph(sparselu_make, nodes, all.count, &all);
		sparselu_find_behind(k, &all);
		par_graph(sparselu_make, nodes, all.count, &all);
	}
	free(nodes);
	free(all.calls);
	par_forget();
}
