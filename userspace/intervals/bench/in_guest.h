/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the programs that run benchmarks in the simulated machine have in common. */
#ifndef BENCH_IN_GUEST_H
#define BENCH_IN_GUEST_H

#include <error.h>
#include <stdlib.h>

#define EXIT_USAGE 2
/* Longer than a worker without work looks for some. */
#define ASLEEP_NS 2000000

/* The argument `name`, whose text this is; ends the program if it is not from 1 to `most`. */
static inline unsigned int number(const char *name, const char *text, unsigned int most)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || !value || value > most)
		error(EXIT_USAGE, 0, "%s %s: must be a whole number from 1 to %u", name, text, most);
	return (unsigned int)value;
}

#endif
