/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An array of counters, one for each thread, in segments with a lock each: what
 * multiple_ctr (one segment) and mlt_ctr_mlt_lock (several) have in common.
 */
#ifndef MICROBENCH_COUNTERS_H
#define MICROBENCH_COUNTERS_H

#include "common/bench.h"

void counters_setup(const struct options *opt);
void counters_iterate(struct worker *w);
void counters_check(const struct options *opt, struct verdict *verdict);

#endif
