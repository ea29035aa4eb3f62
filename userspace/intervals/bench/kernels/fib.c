// SPDX-License-Identifier: LGPL-2.1-or-later

#include "kernels.h"

/* tasks() needs the next number, which is the largest in 64 bits. */
#define MOST 92

struct bench_fib bench_fib;

static int prepare(unsigned int size)
{
	if (size > MOST)
		return EINVAL;
	bench_fib = (struct bench_fib){ .n = size };
	return 0;
}

static uint64_t number(unsigned int n)
{
	uint64_t a = 0, b = 1;

	for (; n; n--) {
		uint64_t next = a + b;

		a = b;
		b = next;
	}
	return a;
}

/* Each call with n >= 2 spawns one task; there are fib(n + 1) - 1 of them. */
static uint64_t tasks(void)
{
	return number(bench_fib.n + 1) - 1;
}

static bool check(void)
{
	return bench_fib.result == number(bench_fib.n);
}

const struct bench_kernel bench_kernel_fib = {
	.name = "fib", .size = 32, .quick_size = 12, .warmups = 1, .repeats = 3,
	.prepare = prepare, .tasks = tasks, .check = check,
};
