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

/* Stack of every thread that runs tasks, if the runtime lets a program set it. */
#define BENCH_STACK_BYTES ((size_t)64 << 20)

struct bench_kernel {
	const char *name;
	/* The literature's size, and one that ends within a moment, for tests. */
	unsigned int size, quick_size;
	/* Runs before the measured ones, and measured runs. */
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
	/* A foreign thread starts function(arg); may wait for its end. NULL: no such call. */
	void (*submit)(void (*function)(void *), void *arg);
	/* Ended by an entry without a name. */
	const struct bench_form *forms;
	/* Print the last run's counts as a member of a JSON object; NULL: none. */
	void (*print_counts)(void);
	/* The most workers; 0: any number. */
	unsigned int max_workers;
	/* As enter(), by a thread that takes part. NULL: no such call. */
	void (*here)(void (*run)(void));
	/* A parallel loop of a thread outside. NULL: no such call. */
	void (*loop)(size_t begin, size_t end,
		     void (*body)(size_t begin, size_t end, void *arg), void *arg);
};

/* Defined by runtimes/X. */
extern const struct bench_runtime bench_runtime;

/* Defined by kernels/; ends with NULL. */
extern const struct bench_kernel *const bench_kernels[];

/* By name; NULL: unknown, or not written for this runtime. */
const struct bench_kernel *bench_find_kernel(const char *name);
const struct bench_form *bench_find_form(const char *name);

/* CLOCK_MONOTONIC. */
uint64_t bench_now_ns(void);
/* Sorts them. */
double bench_median(uint64_t *values, size_t count);
/* Peak resident memory of the process; 0: unknown. */
unsigned long bench_peak_kib(void);

#ifdef __cplusplus
}
#endif

#endif
