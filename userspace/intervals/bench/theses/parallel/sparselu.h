/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What step k does to the block (i, j): in row or column k, or behind them. */
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

/* As BOTS' version "single": one thread makes a task of each block. */
static void sparselu_spawn(struct par_scope *scope, struct sparselu_call *call, size_t k,
			   size_t i, size_t j)
{
	call->k = k;
	call->i = i;
	call->j = j;
	par_spawn(scope, &call->task, sparselu_task, call);
}

static void sparselu_step(size_t k, struct sparselu_call *calls)
{
	size_t n = bench_sparselu.n, count = 0;
	PAR_SCOPE(scope);

	sparselu_decompose(k);
	for (size_t i = k + 1; i < n; i++) {
		if (sparselu_block(k, i))
			sparselu_spawn(&scope, &calls[count++], k, k, i);
		if (sparselu_block(i, k))
			sparselu_spawn(&scope, &calls[count++], k, i, k);
	}
	par_sync(&scope);
	count = 0;
	for (size_t i = k + 1; i < n; i++)
		for (size_t j = k + 1; j < n && sparselu_block(i, k); j++)
			if (sparselu_block(k, j))
				sparselu_spawn(&scope, &calls[count++], k, i, j);
	par_sync(&scope);
}

static void sparselu_single_run(void)
{
	size_t n = bench_sparselu.n;
	struct sparselu_call *calls =
		(struct sparselu_call *)malloc((n * n + 1) * sizeof(struct sparselu_call));

	/* Nothing is decomposed then, and the check says so. */
	if (!calls)
		return;
	for (size_t k = 0; k < n; k++)
		sparselu_step(k, calls);
	free(calls);
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
