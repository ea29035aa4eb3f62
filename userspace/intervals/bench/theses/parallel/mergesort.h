/* SPDX-License-Identifier: LGPL-2.1-or-later */
static void mergesort_make(struct par_node *nodes, void *arg)
{
	for (unsigned int i = 0; i < bench_mergesort.count; i++) {
		struct bench_mergesort_part *part = &bench_mergesort.parts[i];

		par_node(&nodes[i], part->place, mergesort_task, part,
			 part->half ? &nodes[part->left] : NULL,
			 part->half ? &nodes[part->right] : NULL);
	}
}

static void mergesort_run(void)
{
	struct par_node *nodes =
		(struct par_node *)malloc(bench_mergesort.count * sizeof(struct par_node));

	/* Without memory nothing is sorted, and the check fails. */
	if (!nodes)
		return;
	par_graph(mergesort_make, nodes, bench_mergesort.count, NULL);
	free(nodes);
}
