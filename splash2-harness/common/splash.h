/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The harness of the SPLASH-2 programs: what a program supplies and may use.
 *
 * A run is: setup -> threads start -> gate -> warm-up -> gate -> the counted parallel
 * phase -> gate -> check. The controlling main thread issues the ROI markers while
 * every worker is held at a gate (microbench/common/gate.h), the first after a pause that
 * depends on the seed. It is no worker itself: with --threads 4 there are four workers.
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

#include "program.h"

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
 * released workers take the mutex one after the other, which a pthread_barrier_t avoids.
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
/* By one thread, when no thread waits. */
void splash_flag_clear(struct splash_flag *flag);

#endif
