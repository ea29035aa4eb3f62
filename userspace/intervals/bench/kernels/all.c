// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stddef.h>

#include "bench.h"

extern const struct bench_kernel bench_kernel_fib, bench_kernel_fj, bench_kernel_fj_rec,
	bench_kernel_nqueens, bench_kernel_uts_t1, bench_kernel_uts_t3, bench_kernel_matmul,
	bench_kernel_sort, bench_kernel_sor, bench_kernel_dag, bench_kernel_dfs,
	bench_kernel_chain, bench_kernel_wavefront;

const struct bench_kernel *const bench_kernels[] = {
	&bench_kernel_fib, &bench_kernel_fj, &bench_kernel_fj_rec, &bench_kernel_nqueens,
	&bench_kernel_uts_t1, &bench_kernel_uts_t3, &bench_kernel_matmul, &bench_kernel_sort,
	&bench_kernel_sor, &bench_kernel_dag, &bench_kernel_dfs, &bench_kernel_chain,
	&bench_kernel_wavefront, NULL,
};
