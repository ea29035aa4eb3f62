// SPDX-License-Identifier: GPL-2.0
#include "line_directory.h"

#include <stdio.h>
#include <stdlib.h>

int line_directory_init(struct line_directory *d, unsigned int line_shift)
{
	d->n_tables = 1ull << (CACHESIM_PHYS_BITS - line_shift - DIRECTORY_TABLE_BITS);
	d->tables = calloc(d->n_tables, sizeof(*d->tables));
	return d->tables ? 0 : -1;
}

void line_directory_free(struct line_directory *d)
{
	if (!d->tables)
		return;
	for (uint64_t i = 0; i < d->n_tables; i++)
		free(d->tables[i]);
	free(d->tables);
}

struct line_holders *line_directory_grow(struct line_directory *d, uint64_t line)
{
	struct line_holders *table = calloc(1u << DIRECTORY_TABLE_BITS, sizeof(*table));

	if (!table) {
		fputs("cachesim: out of memory for the line directory; free some and run again\n",
		      stderr);
		_Exit(1);
	}
	d->tables[line >> DIRECTORY_TABLE_BITS] = table;
	return table;
}
