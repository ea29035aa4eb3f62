/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Step k on block (i, j): in row or column k, or behind them. */
struct sparselu_call {
	size_t k, i, j;
	struct par_task task;
};

static void sparselu_do(size_t k, size_t i, size_t j)
{
	if (i == k)
		sparselu_lower(k, j);
	else if (j == k)
		sparselu_upper(k, i);
	else
		sparselu_update(k, i, j);
}

static void sparselu_task(void *arg)
{
	struct sparselu_call *call = (struct sparselu_call *)arg;

	sparselu_do(call->k, call->i, call->j);
}

/* Tasks that do not wait for each other. */
struct sparselu_calls {
	struct sparselu_call *calls;
	size_t count;
};

static void sparselu_add(struct sparselu_calls *all, size_t k, size_t i, size_t j)
{
	struct sparselu_call *call = &all->calls[all->count++];

	call->k = k;
	call->i = i;
	call->j = j;
}

/* The tasks of step k: of its row, its column, and the blocks behind. */
static void sparselu_find_edges(size_t k, struct sparselu_calls *all)
{
	all->count = 0;
	for (size_t i = k + 1; i < bench_sparselu.n; i++) {
		if (sparselu_block(k, i))
			sparselu_add(all, k, k, i);
		if (sparselu_block(i, k))
			sparselu_add(all, k, i, k);
	}
}

static void sparselu_find_behind(size_t k, struct sparselu_calls *all)
{
	size_t n = bench_sparselu.n;

	all->count = 0;
	for (size_t i = k + 1; i < n; i++)
		for (size_t j = k + 1; j < n && sparselu_block(i, k); j++)
			if (sparselu_block(k, j))
				sparselu_add(all, k, i, j);
}

/* At most the number of blocks. */
static struct sparselu_call *sparselu_memory(void)
{
	size_t n = bench_sparselu.n;

	return (struct sparselu_call *)malloc((n * n + 1) * sizeof(struct sparselu_call));
}

/* As BOTS' version "single": one thread makes a task of each block. */
static void sparselu_spawn(struct sparselu_calls *all)
{
	PAR_SCOPE(scope);

	for (size_t c = 0; c < all->count; c++)
		par_spawn(&scope, &all->calls[c].task, sparselu_task, &all->calls[c]);
	par_sync(&scope);
}

static void sparselu_single_run(void)
{
	struct sparselu_calls all = { sparselu_memory(), 0 };

	/* Without memory nothing is decomposed, and the check says so. */
	for (size_t k = 0; all.calls && k < bench_sparselu.n; k++) {
		sparselu_decompose(k);
		sparselu_find_edges(k, &all);
		sparselu_spawn(&all);
		sparselu_find_behind(k, &all);
		sparselu_spawn(&all);
	}
	free(all.calls);
}

/* As BOTS' version "for": loops over the blocks of a row and column, then over rows. */
static void sparselu_edges(size_t begin, size_t end, void *arg)
{
	size_t k = *(size_t *)arg;

	for (size_t i = begin; i < end; i++) {
		if (sparselu_block(k, i))
			sparselu_do(k, k, i);
		if (sparselu_block(i, k))
			sparselu_do(k, i, k);
	}
}

static void sparselu_rows(size_t begin, size_t end, void *arg)
{
	size_t k = *(size_t *)arg;

	for (size_t i = begin; i < end; i++)
		for (size_t j = k + 1; j < bench_sparselu.n && sparselu_block(i, k); j++)
			if (sparselu_block(k, j))
				sparselu_do(k, i, j);
}

static void sparselu_for_run(void)
{
	for (size_t k = 0; k < bench_sparselu.n; k++) {
		sparselu_decompose(k);
		par_for(k + 1, bench_sparselu.n, sparselu_edges, &k);
		par_for(k + 1, bench_sparselu.n, sparselu_rows, &k);
	}
}
