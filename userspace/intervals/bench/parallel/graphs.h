/* SPDX-License-Identifier: LGPL-2.1-or-later */
static void chain_make(struct par_node *nodes, void *arg)
{
	for (unsigned int i = 0; i < CHAIN_LENGTH; i++)
		par_node(&nodes[i], PAR_ANYWHERE, chain_link, &bench_chain.links[i],
			 i ? &nodes[i - 1] : NULL, NULL);
}

static void chain_run(void)
{
	struct par_node nodes[CHAIN_LENGTH];

	for (unsigned int round = 0; round < bench_chain.rounds; round++)
		par_graph(chain_make, nodes, CHAIN_LENGTH, NULL);
}

static void wavefront_make(struct par_node *nodes, void *arg)
{
	size_t n = bench_wavefront.n;

	for (size_t i = 0; i < n * n; i++)
		par_node(&nodes[i], PAR_ANYWHERE, wavefront_cell, &bench_wavefront.cells[i],
			 i < n ? NULL : &nodes[i - n], i % n ? &nodes[i - 1] : NULL);
}

static void wavefront_run(void)
{
	size_t count = bench_wavefront.n * bench_wavefront.n;
	struct par_node *nodes = (struct par_node *)malloc(count * sizeof(struct par_node));

	/* No cell is computed then, and the check says so. */
	if (!nodes)
		return;
	par_graph(wavefront_make, nodes, count, NULL);
	free(nodes);
}
