/* SPDX-License-Identifier: LGPL-2.1-or-later */
static void raytracer_part(size_t begin, size_t end, void *arg)
{
	raytracer_rows(begin, end);
}

static void raytracer_run(void)
{
	PAR_DEAL(0, bench_raytracer.n, raytracer_part, NULL);
}
