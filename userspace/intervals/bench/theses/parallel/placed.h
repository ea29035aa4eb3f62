/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SOR and MG by places (SLAW, section V-D): the first half of each loop runs at one place, the
 * second at another, so that a task finds its row in the cache that its place shares.
 */
#define PLACED_BLOCKS 16

struct placed_block {
	size_t begin, end;
	void (*body)(size_t begin, size_t end, void *arg);
	void *arg;
};

static void placed_task(void *arg)
{
	struct placed_block *block = (struct placed_block *)arg;

	block->body(block->begin, block->end, block->arg);
}

static void placed_make(struct par_node *nodes, void *arg)
{
	struct placed_block *blocks = (struct placed_block *)arg;

	for (unsigned int i = 0; i < PLACED_BLOCKS; i++)
		par_node(&nodes[i], 2 * i / PLACED_BLOCKS, placed_task, &blocks[i], NULL, NULL);
}

static void placed_for(size_t begin, size_t end, void (*body)(size_t begin, size_t end, void *arg),
		       void *arg)
{
	size_t count = end - begin;
	struct placed_block blocks[PLACED_BLOCKS];
	struct par_node nodes[PLACED_BLOCKS];

	for (size_t i = 0; i < PLACED_BLOCKS; i++) {
		blocks[i].begin = begin + count * i / PLACED_BLOCKS;
		blocks[i].end = begin + count * (i + 1) / PLACED_BLOCKS;
		blocks[i].body = body;
		blocks[i].arg = arg;
	}
	par_graph(placed_make, nodes, PLACED_BLOCKS, blocks);
}

static void sor_placed_run(void)
{
	sor_by(placed_for);
}

static void mg_placed_run(void)
{
	mg_by(placed_for);
}
