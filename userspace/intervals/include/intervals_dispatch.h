/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file
 * The task-locality dispatcher: run a task where the objects are that it uses.
 *
 *	ivl_objects *objects = ivl_objects_create(runtime, 1000);
 *	double *a = ivl_object_alloc(objects, bytes, ivl_place_at(runtime, 0));
 *	...
 *	ivl_async(multiply, &arg, sizeof(arg), ivl_dispatch(objects, uses, 3));
 *
 * After Vikranth: Adaptive Work Stealing Run-times for NUMA Multi-core Architecture, chapter 5.
 * A set of objects may be used by any thread at any time; it is destroyed when nobody uses
 * it any more, and before its runtime is stopped. Functions that return int give 0 or an
 * errno value; ivl_last_error() then has the words, except for ENOMEM.
 */
#ifndef INTERVALS_DISPATCH_H
#define INTERVALS_DISPATCH_H

#include <stddef.h>

#include "intervals.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/**
 * @defgroup ivl_dispatcher Task-locality dispatcher
 * @{
 */

/** Which objects are at which places. */
typedef struct ivl_objects ivl_objects;

/** An empty set for about `expected` objects; with many more it works, but slower. NULL: ENOMEM. */
ivl_objects *ivl_objects_create(const ivl_runtime *runtime, size_t expected);
/** Frees what ivl_object_alloc() gave; other objects are just not known any more. */
void ivl_objects_destroy(ivl_objects *objects);

/**
 * An object of that size on the place's node, 128-byte aligned, not cleared. Freed by
 * ivl_object_unbind(). NULL: ENOMEM, or no bytes, or no place of this runtime with workers.
 */
void *ivl_object_alloc(ivl_objects *objects, size_t bytes, const ivl_place *place);

/**
 * Say that an object, named by its first address, is at a place, or NULL: find out now, from
 * the node on which most of its pages are (of a large object, of 1024 pages spread over it).
 * Where several places are on that node they take turns. EEXIST: it is bound already. EINVAL:
 * it has no address or no bytes, or the place no worker of this runtime. ENOENT: no page of
 * it was touched yet, or no place is on its node. EPERM, ENOSYS: the kernel does not say.
 */
int ivl_object_bind(ivl_objects *objects, const void *object, size_t bytes,
		    const ivl_place *place);
/**
 * Forget an object. Waits for those who are just looking it up: microseconds, or some 10 ms
 * where many ask all the time. ENOENT: it is not bound.
 */
int ivl_object_unbind(ivl_objects *objects, void *object);
/** Where an object is. NULL: it is not bound. */
const ivl_place *ivl_object_place(ivl_objects *objects, const void *object);

/**
 * The place for a task that uses these objects: the node that has most of their bytes, and on
 * it the place that has most. Of equals, the one whose object comes first. NULL, which as a
 * hint means no preference: none of them is bound.
 *
 * In the words of section 5.4: of the similarity indices S(task, node) = |D_task & D_node| / |D|
 * the largest, each object weighing as many as it has bytes. Allocates nothing.
 */
const ivl_place *ivl_dispatch(ivl_objects *objects, const void *const *uses, size_t count);

/** @} */

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
