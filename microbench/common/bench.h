/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The harness of the microbenchmarks: what a benchmark supplies and may use.
 *
 * A run is: threads start -> gate -> warm-up iterations -> gate -> counted
 * iterations -> gate -> self-check. The controlling main thread issues the ROI
 * markers while every worker is held at a gate.
 */
#ifndef MICROBENCH_BENCH_H
#define MICROBENCH_BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define MAX_THREADS 1024

/* The command line, validated: every field is within the range its --help states. */
struct options {
	unsigned int threads;
	unsigned int group;	/* threads that share their work evenly: 1, or 2 for pairs */
	uint64_t iterations;	/* counted, total over all threads */
	uint64_t warmup;	/* before counting, total over all threads */
	unsigned int cs_lines;	/* lines of shared data that a critical section touches */
	unsigned int think;	/* mean PRNG steps between two locking operations */
	unsigned int locks;
	unsigned int line;	/* bytes; nothing shared by chance lies within one line */
	uint64_t seed;
	bool json;
};

/* One thread of the benchmark. Only that thread writes to it during a run. */
struct worker {
	const struct options *opt;
	uint64_t random;	/* PRNG state */
	uint64_t done;		/* iterations so far, warm-up included */
	uint64_t finish_ns;	/* CLOCK_MONOTONIC, end of the last counted iteration */
	unsigned int id;	/* 0 .. threads - 1 */
	pid_t tid;
};

/* The self-check's outcome; the first failure found is kept. */
struct verdict {
	bool failed;
	char detail[160];	/* no quotes or backslashes: it is printed as JSON */
};

struct bench {
	const char *name;
	const char *description;	/* NULL: that of the list */
	bool paired;		/* even threads and iterations; threads 2k and 2k+1 do equally many */
	unsigned int fixed_locks;	/* 0: --locks chooses, up to one per thread (or pair) */

	/* Allocate and initialise the shared data, before any thread exists. */
	void (*setup)(const struct options *opt);
	/* One iteration: critical sections, each followed by think(). */
	void (*iterate)(struct worker *w);
	/*
	 * Optional, for benchmarks whose threads iterate in step: a thread whose share is
	 * one iteration smaller takes part in the last one by it.
	 */
	void (*sit_out)(struct worker *w);
	/* After all threads have ended: is the shared data what the work makes it? */
	void (*check)(const struct options *opt, struct verdict *verdict);
};

/* The whole program. Returns its exit status: 0, or 1 when the self-check failed. */
int bench_main(const struct bench *bench, int argc, char **argv);

/* How many of `total` iterations thread `id` does. Thread 0's share is the largest. */
uint64_t thread_share(const struct options *opt, uint64_t total, unsigned int id);

/* All iterations of thread `id`, warm-up included: what a self-check expects. */
uint64_t thread_iterations(const struct options *opt, unsigned int id);

void verdict_fail(struct verdict *verdict, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
