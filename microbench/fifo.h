/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bounded FIFO arrays with a lock each, filled and emptied by pairs of threads:
 * what prod_cons (one FIFO) and multiple_fifo (several) have in common.
 *
 * Threads 2k and 2k + 1 are pair k: the first produces as many items as the
 * second consumes, into and out of FIFO k modulo --locks. An iteration is one
 * item produced or one item consumed.
 *
 * Producers wait for free elements and consumers for data on two condition
 * variables beside the FIFO's one mutex, signalled once for every item: each
 * signal that finds a waiter is a futex_wake of one thread. It is sent after
 * the unlock, so that the thread woken finds the mutex free and not, as a rule,
 * has to sleep a second time.
 */
#ifndef MICROBENCH_FIFO_H
#define MICROBENCH_FIFO_H

#include "common/bench.h"

void fifo_setup(const struct options *opt);
void fifo_iterate(struct worker *w);
void fifo_check(const struct options *opt, struct verdict *verdict);

#endif
