/* SPDX-License-Identifier: LGPL-2.1-or-later */
static void series_part(size_t begin, size_t end, void *arg)
{
	series_terms(begin, end);
}

static void series_run(void)
{
	PAR_EACH(0, bench_series.n, series_part, NULL);
}
