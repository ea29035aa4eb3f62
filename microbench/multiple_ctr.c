// SPDX-License-Identifier: GPL-2.0
/*
 * "Multiple Counter (multiple_ctr) consists of an array of counters protected
 * by a single lock and each thread increments a different counter (fits in a
 * cache line) in the array." (section 3.2.1). A counter is --cs-lines lines wide.
 */
#include "counters.h"

const struct bench benchmark = {
	.name = "multiple_ctr",
	.fixed_locks = 1,
	.setup = counters_setup,
	.iterate = counters_iterate,
	.check = counters_check,
};
