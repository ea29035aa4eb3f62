// SPDX-License-Identifier: LGPL-2.1-or-later

#include "theses/sync.h"
#include "theses/theses.h"

extern const struct bench_kernel bench_kernel_fib, bench_kernel_fj, bench_kernel_fj_rec,
	bench_kernel_nqueens, bench_kernel_uts_t1, bench_kernel_uts_t3, bench_kernel_matmul,
	bench_kernel_sort, bench_kernel_reduce, bench_kernel_scan, bench_kernel_sor,
	bench_kernel_dag, bench_kernel_dfs, bench_kernel_chain, bench_kernel_wavefront;

#define DECLARE(name, form) extern const struct bench_kernel bench_kernel_##name;
THESES(DECLARE)
SYNC(DECLARE)

#define ADDRESS(name, form) &bench_kernel_##name,

const struct bench_kernel *const bench_kernels[] = {
	&bench_kernel_fib, &bench_kernel_fj, &bench_kernel_fj_rec, &bench_kernel_nqueens,
	&bench_kernel_uts_t1, &bench_kernel_uts_t3, &bench_kernel_matmul, &bench_kernel_sort,
	&bench_kernel_reduce, &bench_kernel_scan, &bench_kernel_sor, &bench_kernel_dag,
	&bench_kernel_dfs, &bench_kernel_chain, &bench_kernel_wavefront, THESES(ADDRESS)
	SYNC(ADDRESS) NULL,
};
