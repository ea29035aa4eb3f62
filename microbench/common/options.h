/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MICROBENCH_OPTIONS_H
#define MICROBENCH_OPTIONS_H

#include <argp.h>

#include "bench.h"

/*
 * Parse the command line for `bench`. Returns only valid options: --help and
 * --list exit with 0, and bad input exits with 2 after naming option, value and range.
 */
struct options options_parse(const struct bench *bench, int argc, char **argv);

/* --name=text, a whole number. What is not one, or not from min to max, ends in argp_error(). */
uint64_t options_number(struct argp_state *state, const char *name, const char *text,
			uint64_t min, uint64_t max);

/* One for each CPU, a multiple of `group`. */
unsigned int options_default_threads(unsigned int group);

#endif
