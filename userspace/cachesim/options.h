/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The plugin's arguments: machine=FILE,system_map=FILE,out=FILE, each exactly once, and
 * quantum=CYCLES, node_memory=BYTES, futexes=own|next, attribute=FILE and, with these two,
 * allocators=FILE, which may be left out.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "cachesim.h"
#include "futexes.h"

struct options {
	struct cachesim_machine machine;
	const char *machine_file;	/* these five point into argv */
	const char *system_map;
	const char *out;
	const char *attribute;	/* NULL: nothing is attributed to instructions */
	const char *allocators;	/* NULL: it is not watched where locks are allocated */
	unsigned int quantum;	/* cycles: clock.h */
	uint64_t node_memory;	/* bytes: cachesim_set_node_memory(); 0: memory is of one node */
	enum futexes_program futexes;	/* 0: they are not counted */
};

/*
 * Read the arguments, each one "key=value". Returns 0, or -1 with a message
 * for the user in `error` (cut to `size`).
 */
int options_parse(struct options *o, int argc, char **argv, char *error, size_t size);

#endif
