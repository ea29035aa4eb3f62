/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The plugin's arguments: machine=FILE,idle=START-END,out=FILE, each exactly once, and
 * futexes=own|next, which may be left out.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "cachesim.h"
#include "futexes.h"

struct options {
	struct cachesim_machine machine;
	uint64_t idle_start;	/* virtual addresses [start, end) of the guest's idle loop */
	uint64_t idle_end;
	const char *out;	/* points into argv */
	enum futexes_program futexes;	/* 0: they are not counted */
};

/*
 * Read the arguments, each one "key=value". Returns 0, or -1 with a message
 * for the user in `error` (cut to `size`).
 */
int options_parse(struct options *o, int argc, char **argv, char *error, size_t size);

#endif
