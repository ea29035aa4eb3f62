/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SPLASH_ARGUMENTS_H
#define SPLASH_ARGUMENTS_H

#include "program.h"

/*
 * Parse the command line: the common options into what is returned, the program's own
 * into its tables. --help exits with 0; bad input exits with 2 after naming option,
 * value and range.
 */
struct splash_options arguments_parse(const struct splash_program *program, int argc, char **argv);

#endif
