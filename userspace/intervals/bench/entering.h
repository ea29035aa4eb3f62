/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What it costs a thread outside to get work done: nanoseconds, the median of many. */
#ifndef BENCH_ENTERING_H
#define BENCH_ENTERING_H

#include "bench.h"

/* here() with nothing to do. */
double entering_empty(const struct bench_runtime *runtime, unsigned int workers, bool quick);
bool entering_can_be_empty(const struct bench_runtime *runtime);

/* loop() over ENTERING_INDICES, each of which adds 1 to an element of an array. */
#define ENTERING_INDICES 100
double entering_loop(const struct bench_runtime *runtime, unsigned int workers, bool quick);
bool entering_can_loop(const struct bench_runtime *runtime);

/* start() and stop() of a runtime after the process's first. */
double entering_restart(const struct bench_runtime *runtime, unsigned int workers, bool quick);

#endif
