/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A scan in two passes over as many blocks as threads, by par_for(): where a runtime has none. */
#ifndef BENCH_SCAN_BLOCKS_H
#define BENCH_SCAN_BLOCKS_H

struct scan_blocks {
	int64_t *out;
	const int64_t *in;
	size_t count, blocks;
	int64_t *before;		/* of each block: the sum of all before it */
};

static size_t block_begin(const struct scan_blocks *scan, size_t block)
{
	return scan->count * block / scan->blocks;
}

static void sum_blocks(size_t block, size_t end, void *arg)
{
	const struct scan_blocks *scan = (const struct scan_blocks *)arg;

	for (; block < end; block++) {
		size_t first = block_begin(scan, block);

		scan->before[block + 1] =
			scan_sum(scan->in + first, block_begin(scan, block + 1) - first);
	}
}

static void scan_each_block(size_t block, size_t end, void *arg)
{
	const struct scan_blocks *scan = (const struct scan_blocks *)arg;

	for (; block < end; block++) {
		size_t first = block_begin(scan, block);

		scan_part(scan->out + first, scan->in + first,
			  block_begin(scan, block + 1) - first, scan->before[block]);
	}
}

static void scan_by_blocks(int64_t *out, const int64_t *in, size_t count, size_t blocks)
{
	int64_t before[blocks];
	struct scan_blocks scan = { out, in, count, blocks, before };

	before[0] = 0;
	/* All but the last: no block follows it. */
	par_for(0, blocks - 1, sum_blocks, &scan);
	for (size_t block = 1; block < blocks; block++)
		before[block] += before[block - 1];
	par_for(0, blocks, scan_each_block, &scan);
}

#endif
