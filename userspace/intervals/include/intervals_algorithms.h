/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file
 * Reduce, scan and sort, by spawn and sync (intervals.h); and sums that tasks of any kind add to.
 *
 * The first three cannot fail: without memory for a task or for a second array, the caller does the
 * work alone. Any thread, as for ivl_parallel_for().
 */
#ifndef INTERVALS_ALGORITHMS_H
#define INTERVALS_ALGORITHMS_H

#include "intervals.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/**
 * @defgroup ivl_algorithms Reduce, scan, sort
 * @{
 */

/** Add the values of the indices from `begin` up to, not including, `end` to `sum`. */
typedef void ivl_part(size_t begin, size_t end, void *sum, void *arg);
/** Add `more`, which comes after `sum`, to `sum`. Must be associative, need not be commutative. */
typedef void ivl_combine(void *sum, const void *more, void *arg);
/** Returns less than, equal to, or greater than 0, as for qsort_r(). */
typedef int ivl_compare(const void *one, const void *other, void *arg);

/**
 * Call part() for parts of a range, each with a sum of its own that begins as a copy of `sum`, the
 * identity; then combine() the sums in order. `bytes` is the size of a sum, of which there is one
 * for each time the range was halved; sums of up to 1024 bytes are on the stack. `grain` is as for
 * ivl_parallel_for(). If it is given, the way in which sums are combined does not depend on the
 * workers, except for parts that are added to one sum because there is no memory for another.
 */
void ivl_parallel_reduce(size_t begin, size_t end, size_t grain, void *sum, size_t bytes,
			 ivl_part *part, ivl_combine *combine, void *arg);

/**
 * As ivl_parallel_reduce(); also call scan() once for each part, with the sum of everything before
 * it. scan() adds the values of the part's indices one by one and stores each sum; part() adds them
 * without storing. With a `grain`, part() is called first for all parts but the first and the last.
 * Without one, it is called for the parts that a worker comes to before the sum up to there is
 * known, so never if only one worker takes part.
 */
void ivl_parallel_scan_parts(size_t begin, size_t end, size_t grain, void *sum, size_t bytes,
			     ivl_part *part, ivl_part *scan, ivl_combine *combine, void *arg);

/**
 * Each of `count` elements of `out` becomes the sum of the elements of `in` up to and including the
 * same index. `bytes` is the size of an element. `out` may be `in`. combine() is called once or
 * twice per element; ivl_parallel_scan_parts() saves these calls if an addition is cheap. `grain`
 * as for ivl_parallel_reduce().
 */
void ivl_parallel_scan(void *out, const void *in, size_t count, size_t bytes, size_t grain,
		       ivl_combine *combine, void *arg);

/**
 * As qsort_r(): `count` elements of `bytes` each. Not stable. Uses a second array of the same size.
 */
void ivl_parallel_sort(void *array, size_t count, size_t bytes, ivl_compare *compare, void *arg);

/** Returns the next item; NULL: there are no more. */
typedef void *ivl_source(void *arg);
/** A stage of a pipeline. */
struct ivl_stage {
	void (*function)(void *item, void *arg);	/**< called once for each item */
	void *arg;			/**< for the function */
	bool serial;			/**< one item after the other, in order; else at the same time */
};

/**
 * The caller takes items from source(arg), at most `tokens` at a time; each goes through all
 * stages, as intervals. Returns 0 when all are through; ENOMEM; EINVAL: `tokens` is 0; or the error of
 * ivl_fail() in a stage: then no more begin. Any thread; with no interval around, it works alone.
 */
int ivl_parallel_pipeline(size_t tokens, ivl_source *source, void *arg,
			  const struct ivl_stage *stages, size_t count);

/** @} */

/**
 * @defgroup ivl_commutative_reducers Commutative reducers
 * A sum to which tasks add without a lock: each worker has its own view. Which task adds to which
 * view, and in which order, is not determined, so the operation must be associative and
 * commutative. (The hyperobjects of Cilk++ keep the serial order by a new view for the continuation
 * of a spawn. Here a child that is not stolen runs after its continuation, so each spawn would have
 * to create a view.) If the order matters, use ivl_parallel_reduce().
 * @{
 */

/** Belongs to one runtime. */
typedef struct ivl_commutative ivl_commutative;

/**
 * Create a sum of `bytes`, which begins as a copy of `nothing`, the operation's identity. ENOMEM.
 * Any thread. Destroy it before the runtime is stopped, when no task adds to it any more.
 */
int ivl_commutative_create(ivl_runtime *runtime, size_t bytes, const void *nothing,
			   ivl_commutative **reducer);
/** Any thread. */
void ivl_commutative_destroy(ivl_commutative *reducer);
/**
 * The view to add to, aligned for any type. A task of the runtime may use it until it spawns,
 * syncs, joins or waits: then the view may belong to another task. All tasks that run on the same
 * worker get the same address. NULL (see ivl_last_error()): EINVAL: the caller is not such a task;
 * ENOMEM, in ivl_run_here() only. [task]
 */
void *ivl_commutative_view(ivl_commutative *reducer);
/**
 * Add all views to `sum`, by combine(sum, view, arg), in any order; they are not changed. Call it
 * while no task adds: after the sync, join or wait for all that do. Any thread.
 */
void ivl_commutative_read(const ivl_commutative *reducer, void *sum, ivl_combine *combine,
			  void *arg);

/** @} */

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
