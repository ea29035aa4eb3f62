// SPDX-License-Identifier: LGPL-2.1-or-later
/* Entry points of loops over unsigned long long. */
#include "loop.h"

typedef unsigned long long number;

#define ENTRY(name) GOMP_loop_ull_##name
#define RANGE bool up, number first, number last, number step
#define LOOP(schedule, chunk) \
	gomp_loop_unsigned(gomp_member(), up, first, last, step, schedule, chunk)
#include "loop_entries.def"
