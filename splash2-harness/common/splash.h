/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The harness of the SPLASH-2 programs: what a program supplies and may use.
 *
 * A run is: setup -> threads start -> gate -> warm-up -> gate -> the counted parallel
 * phase -> gate -> check. The controlling main thread issues the ROI markers while
 * every worker is held at a gate (microbench/common/gate.h). It is no worker itself:
 * with --threads 4 there are four workers.
 *
 * All synchronisation inside the phase goes through the wrappers below, under the
 * names that PARMACS has for it: FAST acts on the futexes beneath, and the profile
 * (--profile) says what part of the time goes there.
 */
#ifndef SPLASH_H
#define SPLASH_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
	const struct splash_number *numbers;	/* end with { 0 }; NULL: none. So the others */
	const struct splash_real *reals;
	const struct splash_word *words;

	/*
	 * Before any thread exists: judge the options, allocate, generate or read the
	 * input. What is wrong is said by splash_refuse().
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

/* Each program defines this one; common/main.c runs it. */
extern const struct splash_program program;

/* The whole program. Returns its exit status: 0, or 1 when the check failed; 2: refused. */
int splash_main(const struct splash_program *program, int argc, char **argv);

/* Bad input: "fft: ...", what is wrong and what to do, on stderr; exit status 2. */
_Noreturn void splash_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Zeroed memory on lines of its own; refuses, with the size, when there is none: more
 * than the machine has is refused before the kernel's OOM killer would have its say.
 */
void *splash_alloc(size_t count, size_t bytes);

/* The part of 0 .. count - 1 that worker `id` of `threads` does: [*begin, *end). */
void splash_share(uint64_t count, unsigned int threads, unsigned int id, uint64_t *begin,
		  uint64_t *end);

/* A generator per stream of a seed (xorshift64 of microbench/common/think.h). */
uint64_t splash_random_state(uint64_t seed, uint64_t stream);
uint64_t splash_random(uint64_t *state);
/* Uniform in [0, 1). */
double splash_random_real(uint64_t *state);

/* LOCK, UNLOCK; an array of them (ALOCK): each on lines of its own. */
struct splash_lock {
	_Alignas(128) pthread_mutex_t mutex;
};

void splash_lock_init(struct splash_lock *lock);
void splash_lock(struct splash_worker *w, struct splash_lock *lock);
void splash_unlock(struct splash_lock *lock);

/*
 * BARRIER of all workers. A mutex and a condition variable, as in PARMACS on pthreads:
 * those who are let go take the mutex one after the other, each from the last, which
 * a pthread_barrier_t spares them.
 */
struct splash_barrier {
	_Alignas(128) pthread_mutex_t mutex;
	pthread_cond_t passed;
	unsigned int threads, arrived;
	uint64_t generation;
};

void splash_barrier_init(struct splash_barrier *barrier, unsigned int threads);
void splash_barrier(struct splash_worker *w, struct splash_barrier *barrier);

/* PAUSE: a flag that is set once and waited for (SETPAUSE, WAITPAUSE, CLEARPAUSE). */
struct splash_flag {
	_Alignas(128) pthread_mutex_t mutex;
	pthread_cond_t set_now;
	bool set;
};

void splash_flag_init(struct splash_flag *flag);
void splash_flag_set(struct splash_flag *flag);
void splash_flag_wait(struct splash_worker *w, struct splash_flag *flag);
/* By one thread, when nobody waits. */
void splash_flag_clear(struct splash_flag *flag);

#endif
