/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface of a SPLASH-2 program to its harness: options, phases, workers.
 */
#ifndef SPLASH_PROGRAM_H
#define SPLASH_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/bench.h"	/* struct verdict, verdict_fail() */

#define SPLASH_MAX_THREADS 1024

/*
 * A number on the command line: --name=N, min <= N <= max. `value` holds the default.
 * A name of one letter is an option -xN too, as SPLASH-2 has it ("t" and "s" are taken).
 */
struct splash_number {
	const char *name, *meaning;
	uint64_t *value, min, max;
};

/* A floating-point number, as above. */
struct splash_real {
	const char *name, *meaning;
	double *value, min, max;
};

/* A word: a file's name, or one of a list that the program checks. NULL: not given. */
struct splash_word {
	const char *name, *meaning;
	const char **value;
};

/* The part of the command line that all programs have. */
struct splash_options {
	unsigned int threads;
	uint64_t seed;
	bool json, profile;
};

/* What a thread did at locks, barriers and flags in the counted phase. */
struct splash_profile {
	uint64_t lock_ns, barrier_ns, flag_ns;	/* waiting, 0 without --profile */
	uint64_t locks, barriers, flags;	/* operations: acquisitions and waits */
	uint64_t contended;			/* locks not free at once, 0 without --profile */
};

struct splash_worker {
	const struct splash_options *opt;
	unsigned int id;			/* 0 .. threads - 1 */
	struct splash_profile profile;
	uint64_t finish_ns;
	pid_t tid;
};

struct splash_program {
	const char *name;			/* "fft" */
	const char *about;			/* one line, for --help */
	const struct splash_number *numbers;	/* like the next two: ends with { 0 }; NULL: none */
	const struct splash_real *reals;
	const struct splash_word *words;

	/*
	 * Before any thread exists: check the options, allocate, generate or read the
	 * input. Errors go to splash_refuse().
	 */
	void (*setup)(const struct splash_options *opt);
	/* Optional, by every worker: not counted, e.g. the first time step. */
	void (*warmup)(struct splash_worker *w);
	/* The counted phase, by every worker. */
	void (*work)(struct splash_worker *w);
	/* After all workers have ended: is the result right? */
	void (*check)(const struct splash_options *opt, struct verdict *verdict);
	/*
	 * A digest of the result, for comparing thread counts: equal up to the stated
	 * tolerance. Printed as "result" in the JSON, with 17 significant digits. Called
	 * before check(), which may destroy the result.
	 */
	double (*result)(void);
};

#endif
