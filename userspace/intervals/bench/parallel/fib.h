/* SPDX-License-Identifier: LGPL-2.1-or-later */
struct fib_call {
	unsigned int n;
	uint64_t result;
};

static uint64_t fib(unsigned int n);

static void fib_task(void *arg)
{
	struct fib_call *call = (struct fib_call *)arg;

	call->result = fib(call->n);
}

static uint64_t fib(unsigned int n)
{
	struct fib_call first = { n - 1, 0 };
	uint64_t second;

	if (n < 2)
		return n;
	PAR_FORK2(fib_task, &first, second = fib(n - 2));
	return first.result + second;
}

static void fib_run(void)
{
	bench_fib.result = fib(bench_fib.n);
}
