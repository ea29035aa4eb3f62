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

#include "theses/square.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All of them, by kernel and form: those of loops alone (par_for()), and others. */
#define THESES_LOOPS(of) \
	of(series, series) of(crypt, crypt) of(lufact, lufact) of(montecarlo, montecarlo) \
	of(raytracer, raytracer) of(moldyn, moldyn)
#define THESES_TASKS(of) \
	of(cachestress_best, cachestress) of(cachestress_ignorant, cachestress) \
	of(cachestress_random, cachestress) of(cachestress_worst, cachestress) \
	of(mergesort_best, mergesort) of(mergesort_ignorant, mergesort) \
	of(mergesort_worst, mergesort) of(blockmm_best, blockmm) of(blockmm_worst, blockmm)
#define THESES(of) THESES_LOOPS(of) THESES_TASKS(of)

/* Where a program's tasks have their data (thesis on intervals, sections 3.2 and 5.3). */
enum bench_locality {
	LOCALITY_BEST,		/* who shares data shares a place */
	LOCALITY_IGNORANT,	/* no hints */
	LOCALITY_RANDOM,
	LOCALITY_WORST,		/* who shares data is in the other place */
};
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

/* Locality. */

/* Tasks that read one of two arrays again and again. */
#define CACHESTRESS_TASKS 64
struct bench_cachestress {
	unsigned int task[CACHESTRESS_TASKS];	/* each its index */
};
extern struct bench_cachestress bench_cachestress;
unsigned int cachestress_place(unsigned int task);
void cachestress_task(void *task);

/* Parts that are sorted, then merged by twos. */
struct bench_mergesort_part {
	size_t begin, half;			/* it merges two of so many; 0: it sorts */
	unsigned int level, place;
	unsigned int left, right;		/* after these parts, if it merges */
};
struct bench_mergesort {
	unsigned int count;			/* of parts; the last one merges all */
	struct bench_mergesort_part *parts;
};
extern struct bench_mergesort bench_mergesort;
void mergesort_task(void *part);

/* The matrices of bench_matmul. Products of quarters, and then sums of two products. */
#define BLOCKMM_LEAF 32
extern enum bench_locality bench_blockmm;
unsigned int blockmm_place(unsigned int quarter);
/* Of the sum whose products are at this place. */
unsigned int blockmm_sum_place(unsigned int place);

#ifdef __cplusplus
}
#endif

#endif
