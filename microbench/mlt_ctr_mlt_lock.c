// SPDX-License-Identifier: GPL-2.0
/*
 * "Multiple Counters Multiple Locks (mlt_ctr_mlt_lock) is similar to the
 * multiple counter microbenchmark, but there are multiple locks protecting
 * different segments of the counter array. The threads dynamically choose the
 * lock to acquire and hence the counter to update depending on its thread id."
 * (section 3.2.1). Thread i takes lock i modulo --locks.
 */
#include "counters.h"

const struct bench benchmark = {
	.name = "mlt_ctr_mlt_lock",
	.setup = counters_setup,
	.iterate = counters_iterate,
	.check = counters_check,
};
