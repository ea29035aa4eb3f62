/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file
 * Reduce, scan and sort, by spawn and sync (intervals.h).
 *
 * None of these can fail: where there is no memory for a task, or for a second array, the caller does
 * it alone. They may be called wherever ivl_spawn() may, also outside of any runtime.
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
 * that of nothing; then combine() these in their order. `bytes`: of a sum, of which there is one on
 * the stack for each time that the range was halved. `grain` is as for ivl_parallel_for(); where it is
 * given, what is combined with what does not depend on the workers.
 */
void ivl_parallel_reduce(size_t begin, size_t end, size_t grain, void *sum, size_t bytes,
			 ivl_part *part, ivl_combine *combine, void *arg);

/**
 * Each of `count` elements of `out` becomes the sum of those of `in` up to and with the same index.
 * `bytes`: of an element. `out` may be `in`. combine() is called about twice for each element.
 * `grain` as for ivl_parallel_for().
 */
void ivl_parallel_scan(void *out, const void *in, size_t count, size_t bytes, size_t grain,
		       ivl_combine *combine, void *arg);

/**
 * As qsort_r(): `count` elements of `bytes` each. Not stable. It uses a second array as large as
 * the first.
 */
void ivl_parallel_sort(void *array, size_t count, size_t bytes, ivl_compare *compare, void *arg);

/** @} */

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
