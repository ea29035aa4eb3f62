/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The serial parts of the kernels. All runtimes call the same object code, so that differences
 * are the runtimes', not the compilers'.
 */
#ifndef BENCH_KERNELS_H
#define BENCH_KERNELS_H

#include "bench.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fibonacci numbers, without a cut-off: a task is one addition. */
struct bench_fib {
	unsigned int n;
	uint64_t result;
};
extern struct bench_fib bench_fib;

/* Fork-join: `rounds` times, FORK_JOIN_TASKS tasks that do next to nothing, and their join. */
#define FORK_JOIN_TASKS 1024
struct bench_fork_join {
	unsigned int rounds;
	unsigned int done[FORK_JOIN_TASKS];	/* by each task, once a round */
};
extern struct bench_fork_join bench_fork_join;

/* All placements of n queens; a task is one queen. */
#define NQUEENS_MAX 16
struct bench_nqueens {
	uint32_t columns, left, right;		/* attacked in the next row */
	uint64_t solutions, placements;		/* below this one */
};
extern unsigned int bench_nqueens_n;
extern struct bench_nqueens bench_nqueens;	/* the empty board, with the result */
/* The columns where a queen can stand in the next row, one bit each. */
uint32_t nqueens_free(const struct bench_nqueens *board);
bool nqueens_full(const struct bench_nqueens *board);
void nqueens_place(const struct bench_nqueens *board, uint32_t column, struct bench_nqueens *next);

/* Unbalanced tree search (Olivier et al., LCPC 2006): count the nodes of an implicit tree. */
struct bench_uts {
	uint8_t state[20];			/* of the splittable generator: a SHA-1 digest */
	uint32_t depth;
	uint64_t nodes;				/* of the tree under it, itself included */
};
extern struct bench_uts bench_uts;		/* the root, with the result */
unsigned int uts_children(const struct bench_uts *node);
void uts_child(const struct bench_uts *node, unsigned int index, struct bench_uts *child);

/* c = a * b, square matrices of doubles that hold small integers: sums are exact. */
#define MATMUL_LEAF 64
struct bench_matmul {
	size_t n;
	double *a, *b, *c;
};
extern struct bench_matmul bench_matmul;
/* c += a * b for squares of MATMUL_LEAF inside matrices of rows `n` long. */
void matmul_leaf(const double *a, const double *b, double *c, size_t n);
/* For all programs that multiply them: the matrices, with c = 0; and is c right? */
int matmul_prepare(unsigned int size);
bool matmul_check(void);

/* Merge sort of `n` integers, with merges that are parallel too. */
#define SORT_LEAF 8192
struct bench_sort {
	size_t n;
	int32_t *values, *scratch;
};
extern struct bench_sort bench_sort;
void sort_leaf(int32_t *values, size_t n);
void sort_merge(int32_t *to, const int32_t *a, size_t na, const int32_t *b, size_t nb);
/* How many of the n sorted values are less than `limit`. */
size_t sort_rank(const int32_t *values, size_t n, int32_t limit);
/* Of values in any order: a sum of hashes. */
uint64_t sort_digest(const int32_t *values, size_t n);
/* Are they in order, and have they this digest? */
bool sort_right(const int32_t *values, size_t n, uint64_t digest);

/* Of a reduction and a scan: a part, where the program says how long these are. */
#define SUMS_LEAF 16384

/* The sum of `n` doubles that hold small integers: exact in any order. */
struct bench_reduce {
	size_t n;
	double *values;
	double sum;				/* the result */
};
extern struct bench_reduce bench_reduce;
double reduce_part(const double *values, size_t n);

/* Prefix sums: out[i] = in[0] + ... + in[i], for `n` integers. */
struct bench_scan {
	size_t n;
	int64_t *in, *out;
};
extern struct bench_scan bench_scan;
int64_t scan_sum(const int64_t *in, size_t n);
/* Of a part, after a sum of all before it; returns that with the part's. */
int64_t scan_part(int64_t *out, const int64_t *in, size_t n, int64_t before);

/* Red-black successive over-relaxation on a square of floats. */
#define SOR_ITERATIONS 50
struct bench_sor {
	size_t n;
	float *cells;
};
extern struct bench_sor bench_sor;
/* Inner rows begin to end, the cells of one colour (0, 1). */
void sor_rows(size_t begin, size_t end, unsigned int colour);

/*
 * Unbalanced DAG (Chase and Lev, SPAA 2005): a node of depth d has 13 (1 - d / D)
 * children on average. It measures the creation of tasks only.
 */
struct bench_dag_node {
	uint64_t state;
	uint32_t depth;
};
extern struct bench_dag_node bench_dag_root;
/* Count the node, by the calling thread, and tell how many children it has. */
unsigned int dag_visit(const struct bench_dag_node *node);
void dag_child(const struct bench_dag_node *node, unsigned int index, struct bench_dag_node *child);

/* Parallel depth-first spanning tree (SLAW, figure 1) of a torus of n * n vertices. */
#define DFS_NEIGHBOURS 4
#define DFS_ROOT 0
uint32_t dfs_neighbour(uint32_t vertex, unsigned int direction);
/* Make `parent` the vertex' parent, if it has none yet. */
bool dfs_label(uint32_t vertex, uint32_t parent);

/* Graphs of tasks: CHAIN_LENGTH tasks, each after the one before; `rounds` times. */
#define CHAIN_LENGTH 100
struct bench_chain {
	unsigned int rounds;
	uint64_t links[CHAIN_LENGTH];		/* of the last round: how many came before */
};
extern struct bench_chain bench_chain;
/* The task of link `link`. */
void chain_link(void *link);

/* n * n tasks, each after its upper and its left neighbour. */
struct bench_cell {
	uint64_t paths;
	const struct bench_cell *above, *left;
};
struct bench_wavefront {
	size_t n;
	struct bench_cell *cells;		/* row by row, linked */
};
extern struct bench_wavefront bench_wavefront;
/* The task of a cell. */
void wavefront_cell(void *cell);

#ifdef __cplusplus
}
#endif

#endif
