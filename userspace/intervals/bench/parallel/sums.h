/* SPDX-License-Identifier: LGPL-2.1-or-later */
static void reduce_run(void)
{
	bench_reduce.sum = par_reduce(bench_reduce.values, bench_reduce.n);
}

static void scan_run(void)
{
	par_scan(bench_scan.out, bench_scan.in, bench_scan.n);
}
