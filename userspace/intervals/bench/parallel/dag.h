/* SPDX-License-Identifier: LGPL-2.1-or-later */
static void dag_task(void *arg)
{
	struct bench_dag_node *node = (struct bench_dag_node *)arg;
	unsigned int children = dag_visit(node);

	for (unsigned int i = 0; i < children; i++) {
		struct bench_dag_node child;

		dag_child(node, i, &child);
		par_async(dag_task, &child, sizeof(child));
	}
}

static void dag_run(void)
{
	struct bench_dag_node root = bench_dag_root;

	par_finish(dag_task, &root);
}
