/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Benchmarks whose work is tasks: --threads are the runtime's workers, an iteration is
 * a task. The main thread starts the work and waits for it; while it marks the region
 * of interest the workers are asleep.
 */
#ifndef MICROBENCH_TASKS_H
#define MICROBENCH_TASKS_H

#include "common/bench.h"
#include "intervals.h"

struct tasks {
	/* Its threads' part, iterate and sit_out, is not used. */
	struct bench bench;
	/* Runs `count` iterations, numbered from `before` on; returns when they are over. */
	void (*run)(const struct options *opt, ivl_runtime *runtime, uint64_t before,
		    uint64_t iterations);
};

/* Defined by the benchmark. */
extern const struct tasks tasks_benchmark;

#endif
