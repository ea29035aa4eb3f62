/* SPDX-License-Identifier: LGPL-2.1-or-later */
static void sor_part(size_t begin, size_t end, void *arg)
{
	sor_rows(begin, end, *(unsigned int *)arg);
}

static void sor_by(par_loop *loop)
{
	for (unsigned int i = 0; i < 2 * SOR_ITERATIONS; i++) {
		unsigned int colour = i & 1;

		loop(1, bench_sor.n - 1, sor_part, &colour);
	}
}

static void sor_run(void)
{
	sor_by(par_for);
}
