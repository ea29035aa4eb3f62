// SPDX-License-Identifier: GPL-2.0
/*
 * "Producer Consumer (prod_cons) consists of a shared FIFO (bounded) array
 * protected by a single lock that is initially empty. Half the threads produce
 * items into the FIFO that are consumed by the other half threads. Producers
 * have to wait for free elements in the FIFO whereas consumers have to wait for
 * data to consume before iterating the critical section code." (section 3.2.1).
 */
#include "fifo.h"

const struct bench benchmark = {
	.name = "prod_cons",
	.paired = true,
	.fixed_locks = 1,
	.setup = fifo_setup,
	.iterate = fifo_iterate,
	.check = fifo_check,
};
