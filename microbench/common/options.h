/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MICROBENCH_OPTIONS_H
#define MICROBENCH_OPTIONS_H

#include "bench.h"

/*
 * Parse the command line for `bench`. Returns only valid options: --help and
 * --list exit with 0, and bad input exits with 2 after naming option, value and range.
 */
struct options options_parse(const struct bench *bench, int argc, char **argv);

#endif
