/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The holders of each line. Real snooping asks every cache; a directory gives the
 * same answer at a cost that does not grow with the number of CPUs. It is a two-level
 * table over the physical line number: a second-level table is made when one of its
 * lines is first cached.
 */
#ifndef LINE_DIRECTORY_H
#define LINE_DIRECTORY_H

#include <stdint.h>

#include "cachesim.h"

#define DIRECTORY_TABLE_BITS 12

struct line_holders {
	uint64_t hierarchies;	/* bit h: the L3 of hierarchy h holds the line */
	uint64_t cpus;		/* bit c: the L2 of CPU c holds the line */
};

struct line_directory {
	struct line_holders **tables;
	uint64_t n_tables;
};

/* A directory of lines of 2^line_shift bytes. Returns 0, or -1 without memory. */
int line_directory_init(struct line_directory *d, unsigned int line_shift);

void line_directory_free(struct line_directory *d);

/* A new table for `line`; ends the process when there is no memory for it. */
struct line_holders *line_directory_grow(struct line_directory *d, uint64_t line);

static inline struct line_holders *line_directory_at(struct line_directory *d, uint64_t line)
{
	struct line_holders *table = d->tables[line >> DIRECTORY_TABLE_BITS];

	if (__builtin_expect(!table, 0))
		table = line_directory_grow(d, line);
	return &table[line & ((1u << DIRECTORY_TABLE_BITS) - 1)];
}

#endif
