// SPDX-License-Identifier: GPL-2.0
/*
 * "Multiple FIFO (multiple_fifo) is similar to producer consumer
 * microbenchmark, but there are multiple locks each protecting a separate FIFO.
 * Each producer/consumer pair is dynamically assigned to a FIFO depending on
 * its thread id. Each thread acquires/releases only the lock corresponding to
 * the queue it is assigned irrespective of whether it is producing or consuming
 * data." (section 3.2.1).
 */
#include "fifo.h"

const struct bench benchmark = {
	.name = "multiple_fifo",
	.paired = true,
	.setup = fifo_setup,
	.iterate = fifo_iterate,
	.check = fifo_check,
};
