/* SPDX-License-Identifier: LGPL-2.1-or-later */
struct numa_matmul_call {
	uint32_t row, column;
};

static void numa_matmul_task(void *arg)
{
	const struct numa_matmul_call *call = (const struct numa_matmul_call *)arg;

	numa_matmul_element(call->row, call->column);
}

static void numa_matmul_all(void *unused)
{
	const uint32_t n = (uint32_t)bench_matmul.n;

	for (uint32_t row = 0; row < n; row++) {
		for (uint32_t column = 0; column < n; column++) {
			struct numa_matmul_call call = { row, column };

			par_async(numa_matmul_task, &call, sizeof(call));
		}
	}
}

static void numa_matmul_run(void)
{
	par_finish(numa_matmul_all, NULL);
}
