/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file of doubles in the machine's format, for a comparison with other programs:
 * numpy.fromfile() reads it. Whatever goes wrong is refused with the file's name.
 */
#ifndef SPLASH_DUMP_H
#define SPLASH_DUMP_H

#include <stddef.h>
#include <stdio.h>

FILE *dump_open(const char *name);
void dump_doubles(FILE *file, const char *name, const double *values, size_t count);
void dump_close(FILE *file, const char *name);

#endif
