// SPDX-License-Identifier: LGPL-2.1-or-later
/* The NUMA thesis' MATMUL (section 3.3.2): a task for each element of the product. */
#include "kernels/kernels.h"
#include "theses.h"

void numa_matmul_element(size_t row, size_t column)
{
	const struct bench_matmul *m = &bench_matmul;
	double sum = 0;

	for (size_t k = 0; k < m->n; k++)
		sum += m->a[row * m->n + k] * m->b[k * m->n + column];
	m->c[row * m->n + column] = sum;
}

const struct bench_kernel bench_kernel_numa_matmul = {
	.name = "numa_matmul", .size = 512, .quick_size = 64, .warmups = 0, .repeats = 3,
	.prepare = matmul_prepare, .check = matmul_check,
};
