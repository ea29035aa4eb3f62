/* SPDX-License-Identifier: LGPL-2.1-or-later */
static void jgf_sor_part(size_t begin, size_t end, void *arg)
{
	jgf_sor_pairs(begin, end, *(unsigned int *)arg);
}

static void jgf_sor_run(void)
{
	for (unsigned int i = 0; i < 2 * JGF_SOR_ITERATIONS; i++) {
		unsigned int colour = i % 2;

		PAR_EACH(0, jgf_sor_count(colour), jgf_sor_part, &colour);
	}
}
