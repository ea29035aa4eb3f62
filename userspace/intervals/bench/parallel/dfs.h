/* SPDX-License-Identifier: LGPL-2.1-or-later */
static void dfs_task(void *arg)
{
	uint32_t vertex = *(uint32_t *)arg;

	for (unsigned int i = 0; i < DFS_NEIGHBOURS; i++) {
		uint32_t next = dfs_neighbour(vertex, i);

		if (dfs_label(next, vertex))
			par_async(dfs_task, &next, sizeof(next));
	}
}

static void dfs_run(void)
{
	uint32_t root = DFS_ROOT;

	par_finish(dfs_task, &root);
}
