/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file
 * Reduce, scan and sort, by spawn and sync (intervals.h); and sums that tasks of any kind add to.
 *
 * The first three cannot fail: where there is no memory for a task, or for a second array, the
 * caller does it alone. They may be called wherever ivl_spawn() may, also outside of any runtime.
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

/** Add what the indices from `begin` up to, not including, `end` give to `sum`. */
typedef void ivl_part(size_t begin, size_t end, void *sum, void *arg);
/** Add `more`, which comes after it, to `sum`. Associative; it need not be commutative. */
typedef void ivl_combine(void *sum, const void *more, void *arg);
/** Less than, equal to, or greater than 0, as for qsort_r(). */
typedef int ivl_compare(const void *one, const void *other, void *arg);

/**
 * Call part() for parts of a range, each with a sum of its own that begins as `sum` does, which is
 * that of nothing; then combine() these in their order. `bytes`: of a sum, of which there is one for each
 * time that the range was halved; those of up to 1024 bytes are on the stack. `grain` is as for
 * ivl_parallel_for(); where it is given, what is combined with what does not depend on the workers,
 * but for parts that are added to one sum because there is no memory for another.
 */
void ivl_parallel_reduce(size_t begin, size_t end, size_t grain, void *sum, size_t bytes,
			 ivl_part *part, ivl_combine *combine, void *arg);

/**
 * As ivl_parallel_reduce(), and call scan() for each part, once, with the sum of all that comes
 * before it: it adds what the part's indices give one by one, and puts each sum where it belongs.
 * part() does the same without putting them anywhere. It is called first, with a `grain`, for all
 * parts but the first and the last; without, for what a worker comes to before the sum up to there
 * is known, so never where nobody else takes part.
 */
void ivl_parallel_scan_parts(size_t begin, size_t end, size_t grain, void *sum, size_t bytes,
			     ivl_part *part, ivl_part *scan, ivl_combine *combine, void *arg);

/**
 * Each of `count` elements of `out` becomes the sum of those of `in` up to and with the same index.
 * `bytes`: of an element. `out` may be `in`. combine() is called once or twice for each element:
 * where adding one is little work, ivl_parallel_scan_parts() saves these calls. `grain` as for
 * ivl_parallel_reduce().
 */
void ivl_parallel_scan(void *out, const void *in, size_t count, size_t bytes, size_t grain,
		       ivl_combine *combine, void *arg);

/**
 * As qsort_r(): `count` elements of `bytes` each. Not stable. It uses a second array as large as
 * the first.
 */
void ivl_parallel_sort(void *array, size_t count, size_t bytes, ivl_compare *compare, void *arg);

/** @} */

/**
 * @defgroup ivl_commutative_reducers Commutative reducers
 *
 * A sum to which tasks add wherever they are, without a lock: each worker has a view of its own.
 * Which task adds to which view, and the order, is chance: the operation must be associative and
 * commutative. (The hyperobjects of Cilk++ keep the serial order, by a new view for whoever goes on
 * beside a child. Here a child that nobody has stolen runs after what follows it, so each spawn
 * would have to begin a view.) Where the order counts: ivl_parallel_reduce().
 * @{
 */

/** Of one runtime. */
typedef struct ivl_commutative ivl_commutative;

/**
 * `bytes` of a sum, which begins as `nothing`, the operation's identity, and is copied. ENOMEM. Any
 * thread. It is destroyed before the runtime is stopped, when nobody adds any more.
 */
int ivl_commutative_create(ivl_runtime *runtime, size_t bytes, const void *nothing,
			   ivl_commutative **reducer);
/** Any thread. */
void ivl_commutative_destroy(ivl_commutative *reducer);
/**
 * The sum to add to, aligned for any type; by a task of the runtime, until it spawns, syncs, joins
 * or waits: then it may be another's. Its address is the same for all who run on that worker. NULL
 * (see ivl_last_error()): EINVAL: the caller is no such task; ENOMEM, in ivl_run_here() alone.
 * [task]
 */
void *ivl_commutative_view(ivl_commutative *reducer);
/**
 * Add all views to `sum`, by combine(sum, view, arg), in whatever order; they stay as they are.
 * When nobody adds: after the sync, join or wait for all who do. Any thread.
 */
void ivl_commutative_read(const ivl_commutative *reducer, void *sum, ivl_combine *combine,
			  void *arg);

/** @} */

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
