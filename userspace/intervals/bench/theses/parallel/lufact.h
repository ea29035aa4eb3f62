/* SPDX-License-Identifier: LGPL-2.1-or-later */
static void lufact_part(size_t begin, size_t end, void *arg)
{
	lufact_columns(*(size_t *)arg, begin, end);
}

static void lufact_run(void)
{
	for (size_t k = 0; k < bench_lufact.n; k++) {
		lufact_pivot(k);
		par_for(k + 1, bench_lufact.n, lufact_part, &k);
	}
	lufact_solve();
}
