/* SPDX-License-Identifier: LGPL-2.1-or-later */
static void cachestress_make(struct par_node *nodes, void *arg)
{
	for (unsigned int i = 0; i < CACHESTRESS_TASKS; i++)
		par_node(&nodes[i], cachestress_place(i), cachestress_task,
			 &bench_cachestress.task[i], NULL, NULL);
}

static void cachestress_run(void)
{
	struct par_node nodes[CACHESTRESS_TASKS];

	par_graph(cachestress_make, nodes, CACHESTRESS_TASKS, NULL);
}
