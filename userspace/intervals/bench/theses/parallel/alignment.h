/* SPDX-License-Identifier: LGPL-2.1-or-later */
struct alignment_call {
	size_t i, j;
	struct par_task task;
};

static void alignment_task(void *arg)
{
	struct alignment_call *call = (struct alignment_call *)arg;

	alignment_pair(call->i, call->j);
}

static void alignment_run(void)
{
	size_t n = bench_alignment.n, count = 0;
	struct alignment_call *calls =
		(struct alignment_call *)malloc(n * n / 2 * sizeof(struct alignment_call));
	PAR_SCOPE(scope);

	/* Without memory nothing is aligned, and the check fails. */
	if (!calls)
		return;
	for (size_t i = 0; i < n; i++) {
		for (size_t j = i + 1; j < n; j++, count++) {
			calls[count].i = i;
			calls[count].j = j;
			par_spawn(&scope, &calls[count].task, alignment_task, &calls[count]);
		}
	}
	par_sync(&scope);
	free(calls);
}
