/* SPDX-License-Identifier: LGPL-2.1-or-later */
static void montecarlo_part(size_t begin, size_t end, void *arg)
{
	montecarlo_paths(begin, end);
}

static void montecarlo_run(void)
{
	PAR_EACH(0, bench_montecarlo.paths, montecarlo_part, NULL);
}
