/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The most children on the stack; the roots of the deep trees have more. */
#define UTS_SMALL 128

struct uts_child_task {
	struct bench_uts node;
	struct par_task task;
};

static void uts_task(void *arg);

static void uts_search(struct bench_uts *node, struct uts_child_task *children,
		       unsigned int count)
{
	PAR_SCOPE(scope);

	for (unsigned int i = 0; i < count; i++) {
		uts_child(node, i, &children[i].node);
		par_spawn(&scope, &children[i].task, uts_task, &children[i].node);
	}
	par_sync(&scope);
	for (unsigned int i = 0; i < count; i++)
		node->nodes += children[i].node.nodes;
}

static void uts_search_many(struct bench_uts *node, unsigned int count)
{
	struct uts_child_task *children =
		(struct uts_child_task *)malloc(count * sizeof(struct uts_child_task));

	/* The node is not counted then, and the check says so. */
	if (!children)
		return;
	uts_search(node, children, count);
	free(children);
}

static void uts_task(void *arg)
{
	struct bench_uts *node = (struct bench_uts *)arg;
	unsigned int count = uts_children(node);
	size_t bytes = count * sizeof(struct uts_child_task);

	node->nodes = 1;
	if (count > UTS_SMALL)
		uts_search_many(node, count);
	else if (count)
		uts_search(node, (struct uts_child_task *)alloca(bytes), count);
}

static void uts_run(void)
{
	uts_task(&bench_uts);
}
