/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The benchmark programs: one per runtime, each with all kernels that are written
 * for it. A program is these parts:
 *
 *   main.c       options, repetitions, output          the same in all programs
 *   kernels/     input, serial part, check             the same object code in all
 *   theses/      further kernels, and their forms      Documentation/theses.rst
 *   runtimes/X   how X runs tasks, and which kernels   one file per runtime
 *
 * The C and C++ runtimes share the parallel form of the kernels too (parallel/),
 * in terms of a few operations that runtimes/X defines.
 */
#ifndef BENCH_H
#define BENCH_H

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of every thread that runs tasks, where a runtime lets one say it: depth is no contest. */
#define BENCH_STACK_BYTES ((size_t)64 << 20)

struct bench_kernel {
	const char *name;
	/* What the kernel's literature uses, and what ends within a moment, for tests. */
	unsigned int size, quick_size;
	/* Runs before those that count, and those. */
	unsigned int warmups, repeats;
	/* Before each run, not timed. 0 or an errno value. */
	int (*prepare)(unsigned int size);
	/* Tasks of the last run, for nanoseconds per task; NULL: the unit is seconds. */
	uint64_t (*tasks)(void);
	/* Is the result of the last run right? */
	bool (*check)(void);
};

/* A kernel's parallel form. It runs inside the runtime. */
struct bench_form {
	const char *kernel;
	void (*run)(void);
};

struct bench_runtime {
	const char *name;
	/* 0 or an errno value. */
	int (*start)(unsigned int workers);
	void (*stop)(void);
	/* Run `run` inside the runtime; returns when it and all its tasks are over. */
	void (*enter)(void (*run)(void));
	/* By a foreign thread: start function(arg). It may wait for its end. NULL: no such call. */
	void (*submit)(void (*function)(void *), void *arg);
	/* Ends with one without a name. */
	const struct bench_form *forms;
	/* Print what was counted in the last run, as a member of a JSON object; NULL: nothing is. */
	void (*print_counts)(void);
	/* How many it can have; 0: any number. */
	unsigned int max_workers;
};

/* Defined by runtimes/X. */
extern const struct bench_runtime bench_runtime;

/* Defined by kernels/; ends with NULL. */
extern const struct bench_kernel *const bench_kernels[];

/* The one of this name; NULL: there is none, or it is not written for this runtime. */
const struct bench_kernel *bench_find_kernel(const char *name);
const struct bench_form *bench_find_form(const char *name);

/* CLOCK_MONOTONIC. */
uint64_t bench_now_ns(void);
/* The most memory that the process had resident, ever; 0: not known. */
unsigned long bench_peak_kib(void);

#ifdef __cplusplus
}
#endif

#endif
