/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The serial parts of the programs that the theses measured (Documentation/theses.rst). See also
 * kernels/kernels.h.
 */
#ifndef BENCH_THESES_H
#define BENCH_THESES_H

#include "bench.h"
#include "theses/square.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All programs, as kernel and form: those made of loops (par_for()), and those made of tasks. */
#define JAVA_GRANDE(of) \
	of(series, series) of(crypt, crypt) of(jgf_sor, jgf_sor) of(lufact, lufact) \
	of(montecarlo, montecarlo) of(raytracer, raytracer) of(moldyn, moldyn)
#define CACHESTRESS(of) \
	of(cachestress_best, cachestress) of(cachestress_ignorant, cachestress) \
	of(cachestress_random, cachestress) of(cachestress_worst, cachestress)
#define THESES_LOOPS(of) \
	JAVA_GRANDE(of) of(cg, cg) of(mg, mg) of(sparselu_for, sparselu_for)
#define THESES_TASKS(of) \
	CACHESTRESS(of) \
	of(mergesort_best, mergesort) of(mergesort_ignorant, mergesort) \
	of(mergesort_worst, mergesort) of(blockmm_best, blockmm) of(blockmm_worst, blockmm) \
	of(lu, lu) of(colouring, colouring) of(fft, fft) of(sparselu_single, sparselu_single) \
	of(strassen, strassen) of(alignment, alignment) of(health, health) \
	of(floorplan, floorplan) of(numa_matmul, numa_matmul) \
	of(strassen_best, strassen_spread) of(strassen_ignorant, strassen_spread) \
	of(sort_best, sort_spread) of(sort_ignorant, sort_spread) \
	of(sparselu_best, sparselu_spread) of(sparselu_ignorant, sparselu_spread) \
	of(sor_placed, sor_placed) of(mg_placed, mg_placed)
#define THESES(of) THESES_LOOPS(of) THESES_TASKS(of)

/*
 * Where a program's tasks have their data (thesis on intervals, sections 3.2 and 5.3; NUMA thesis,
 * chapter 5, has the first two).
 */
enum bench_locality {
	LOCALITY_BEST,		/* tasks that share data share a place */
	LOCALITY_IGNORANT,	/* no hints */
	LOCALITY_RANDOM,
	LOCALITY_WORST,		/* tasks that share data are at two places */
};
#define LOCALITY_NONE (~0U)	/* no hint */

/*
 * The kernel PROGRAM_WHERE, with a prepare() that is told the locality, and further members of
 * struct bench_kernel.
 */
#define KERNEL_AT(program, where, locality, prepares, ...) \
	static int prepare_##where(unsigned int size) \
	{ \
		return prepares(size, locality); \
	} \
	const struct bench_kernel bench_kernel_##program##_##where = { \
		.name = #program "_" #where, .repeats = 3, .prepare = prepare_##where, __VA_ARGS__ \
	}

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

#define JGF_SOR_ITERATIONS 100
struct bench_jgf_sor {
	size_t n;
	double *cells;
};
extern struct bench_jgf_sor bench_jgf_sor;
/* Pairs of rows whose cells of this colour (0, 1) are one task; the number of pairs. */
void jgf_sor_pairs(size_t begin, size_t end, unsigned int colour);
size_t jgf_sor_count(unsigned int colour);

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
	size_t begin, half;			/* elements of each part it merges; 0: it sorts */
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

/* SLAW. */

#define CG_POWERS 15
#define CG_STEPS 25
#define CG_PARTS 64
enum cg_phase {
	CG_BEGIN,				/* the residual is x */
	CG_MULTIPLY,				/* the matrix by the direction */
	CG_STEP,				/* the solution and the residual */
	CG_TURN,				/* the next direction */
	CG_END,					/* the eigenvalue */
	CG_NORMALIZE,				/* x is the solution, of length 1 */
};
/* A phase of the parts from begin up to, not including, end; then what they add up to. */
void cg_parts(enum cg_phase phase, size_t begin, size_t end);
void cg_sum(enum cg_phase phase);

#define MG_CYCLES 4
enum mg_phase {
	MG_REMAIN,				/* the residual of the solution */
	MG_SMOOTH,				/* the solution by the residual */
	MG_COARSEN,				/* the residual by that of the finer level */
	MG_REFINE,				/* the solution by that of the coarser level */
	MG_CLEAR,				/* the solution */
};
struct bench_mg {
	unsigned int level;			/* the finest; a level has 2^level planes */
};
extern struct bench_mg bench_mg;
void mg_planes(enum mg_phase phase, unsigned int level, size_t begin, size_t end);

/* A square matrix becomes L and U. */
#define LU_LEAF 64
struct bench_lu {
	size_t n;
	double *a;
};
extern struct bench_lu bench_lu;
/* Freivalds, for all programs that decompose: is A x L (U x), but for rounding? */
bool lu_right(size_t n, const double *decomposed, const double *whole);

#define COLOURING_MAX 16
struct bench_colouring {
	unsigned int vertices;			/* that have a colour */
	uint8_t colours[COLOURING_MAX];
	uint64_t count;				/* of complete ones that begin so */
};
extern struct bench_colouring bench_colouring;	/* the empty one, with the result */
bool colouring_complete(const struct bench_colouring *colouring);
uint32_t colouring_free(const struct bench_colouring *colouring);
void colouring_colour(const struct bench_colouring *colouring, unsigned int colour,
		      struct bench_colouring *next);

/* BOTS. */

struct bench_alignment {
	size_t n;				/* proteins */
};
extern struct bench_alignment bench_alignment;
void alignment_pair(size_t i, size_t j);

#define FFT_LEAF 1024
struct bench_fft {
	size_t n;
};
extern struct bench_fft bench_fft;
/* The transform of `count` elements of the input, `stride` apart, to the output from `to` on. */
void fft_leaf(size_t from, size_t stride, size_t to, size_t count);
/* Pairs begin to end of the two transforms that `count` elements from `to` on are. */
void fft_combine(size_t to, size_t count, size_t begin, size_t end);

/* Cells that are put side by side. */
#define FLOORPLAN_MAX 15
struct bench_floorplan {
	unsigned int placed, width, height;
	struct bench_cell_at {
		uint8_t x, y, width, height;
	} cells[FLOORPLAN_MAX];
};
extern struct bench_floorplan bench_floorplan;	/* the empty one */
bool floorplan_complete(const struct bench_floorplan *plan);
/* In how many ways the next cell may be placed; some have no room. */
unsigned int floorplan_ways(const struct bench_floorplan *plan);
/* Place it. False: no room, or a better plan is known. */
bool floorplan_place(const struct bench_floorplan *plan, unsigned int way,
		     struct bench_floorplan *next);
/* Keep a complete plan's area if it is the least. */
void floorplan_keep(const struct bench_floorplan *plan);

#define HEALTH_DAYS 365
#define HEALTH_BRANCHES 4
struct bench_village;
struct bench_health {
	struct bench_village *capital;
};
extern struct bench_health bench_health;
/* The villages directly below a village; NULL: none, or no more. */
struct bench_village *health_first_below(const struct bench_village *village);
struct bench_village *health_next(const struct bench_village *village);
/* A village's day, after the day of every village below it. */
void health_day(struct bench_village *village);

#define SPARSELU_BLOCK 100
#define SPARSELU_BYTES (SPARSELU_BLOCK * SPARSELU_BLOCK * sizeof(double))
struct bench_sparselu {
	size_t n;				/* rows of blocks */
	double **blocks;			/* NULL: all zero */
};
extern struct bench_sparselu bench_sparselu;
double *sparselu_block(size_t i, size_t j);
/* Step k: its block; the blocks of its row, of its column; the blocks behind. */
void sparselu_decompose(size_t k);
void sparselu_lower(size_t k, size_t j);
void sparselu_upper(size_t k, size_t i);
void sparselu_update(size_t k, size_t i, size_t j);

/* An element of bench_matmul's product. */
void numa_matmul_element(size_t row, size_t column);

/* Of programs whose data are on several NUMA nodes: LOCALITY_BEST, tasks run at most of theirs. */
extern enum bench_locality bench_spread;
/* Move its whole pages to this node, modulo the number of nodes. */
void spread_move(void *memory, size_t bytes, unsigned int node);

#define STRASSEN_LEAF 64
#define STRASSEN_PRODUCTS 7
/* The factors of one of the products, from the quarters of a and b. */
void strassen_factors(unsigned int product, size_t half, struct bench_square a,
		      struct bench_square b, struct bench_square left, struct bench_square right);
/* Where the halves of the rows of a and b begin that a product is made of; how many. */
#define STRASSEN_HALVES 8
size_t strassen_halves(unsigned int product, size_t half, struct bench_square a,
		       struct bench_square b, const void *halves[STRASSEN_HALVES]);
/* The quarters of c from all products. */
void strassen_result(size_t half, struct bench_square c, const struct bench_square *of);

#ifdef __cplusplus
}
#endif

#endif
