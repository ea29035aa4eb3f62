/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a runtime does when there is nothing to do. */
#ifndef BENCH_IDLE_H
#define BENCH_IDLE_H

#include "bench.h"

/*
 * The CPU time that a started runtime without work uses, as a share of one CPU,
 * over some seconds (a moment if `quick`). The first second after the last work is excluded: some
 * runtimes still spin then.
 */
double idle_share(const struct bench_runtime *runtime, unsigned int workers, bool quick);

/*
 * Nanoseconds from submit(), by a thread that slept before, to the first
 * instruction of the task, when all workers are asleep: the median of many.
 */
double idle_wake(const struct bench_runtime *runtime, unsigned int workers, bool quick);
bool idle_can_wake(const struct bench_runtime *runtime);

#endif
