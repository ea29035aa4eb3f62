/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The serial parts of the programs that the theses measured (Documentation/theses.rst), as
 * kernels/kernels.h has those of the other kernels.
 */
#ifndef BENCH_THESES_H
#define BENCH_THESES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All of them, by kernel and form: those of loops alone (par_for()), and others. */
#define THESES_LOOPS(of) \
	of(series, series) of(crypt, crypt) of(lufact, lufact) of(montecarlo, montecarlo) \
	of(raytracer, raytracer) of(moldyn, moldyn)
#define THESES_TASKS(of)
#define THESES(of) THESES_LOOPS(of) THESES_TASKS(of)

#define LOCALITY_NONE (~0U)	/* a hint that is none */

/* Java Grande. Each function is for indices from begin up to, not including, end. */

struct bench_series {
	size_t n;				/* coefficients, of each kind */
	double *cosines, *sines;
};
extern struct bench_series bench_series;
void series_terms(size_t begin, size_t end);

struct bench_crypt {
	size_t blocks;
};
extern struct bench_crypt bench_crypt;
void crypt_encrypt(size_t begin, size_t end);
void crypt_decrypt(size_t begin, size_t end);

struct bench_lufact {
	size_t n;
};
extern struct bench_lufact bench_lufact;
void lufact_pivot(size_t k);
/* With the pivot of column k; of columns behind it. */
void lufact_columns(size_t k, size_t begin, size_t end);
void lufact_solve(void);

struct bench_montecarlo {
	size_t paths;
};
extern struct bench_montecarlo bench_montecarlo;
void montecarlo_paths(size_t begin, size_t end);

struct bench_raytracer {
	size_t n;				/* rows of as many pixels */
};
extern struct bench_raytracer bench_raytracer;
void raytracer_rows(size_t begin, size_t end);

#define MOLDYN_STEPS 50
#define MOLDYN_LANES 16
struct bench_moldyn {
	size_t atoms;
};
extern struct bench_moldyn bench_moldyn;
/* Of atoms. */
void moldyn_move(size_t begin, size_t end);
/* Of lanes. */
void moldyn_pairs(size_t begin, size_t end);
/* Of atoms. */
void moldyn_accelerate(size_t begin, size_t end);
void moldyn_measure(unsigned int step);

#ifdef __cplusplus
}
#endif

#endif
