/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file
 * The task-locality dispatcher: run a task at the place of the objects that it uses.
 *
 *	ivl_objects *objects = ivl_objects_create(runtime, 1000);
 *	double *a = ivl_object_alloc(objects, bytes, ivl_place_at(runtime, 0));
 *	...
 *	ivl_async(multiply, &arg, sizeof(arg), ivl_dispatch(objects, uses, 3));
 *
 * After Vikranth: Adaptive Work Stealing Run-times for NUMA Multi-core Architecture, chapter 5. Any
 * thread may use a set of objects at any time; destroy it when no thread uses it any more, and
 * before its runtime is stopped. Functions that return int return 0 or an errno value;
 * ivl_last_error() then has a text, except for ENOMEM.
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

/** A set of objects and their places. */
typedef struct ivl_objects ivl_objects;

/**
 * Create an empty set for about `expected` objects; with many more it becomes slower. NULL: ENOMEM.
 */
ivl_objects *ivl_objects_create(const ivl_runtime *runtime, size_t expected);
/** Frees the objects of ivl_object_alloc(); other objects are only forgotten. */
void ivl_objects_destroy(ivl_objects *objects);

/**
 * Allocate an object on the place's node, 128-byte aligned, not cleared. Free it by
 * ivl_object_unbind(). NULL: ENOMEM, or no bytes, or not a place of this runtime with workers.
 */
void *ivl_object_alloc(ivl_objects *objects, size_t bytes, const ivl_place *place);

/**
 * Bind an object, identified by its first address, to a place. NULL place: determine it now, from
 * the node that has most of the object's pages (of a large object, 1024 pages spread over it are
 * checked); several places of that node take turns. EEXIST: it is bound already. EINVAL: no address
 * or no bytes, or the place has no worker of this runtime. ENOENT: none of its pages was touched
 * yet, or no place is on its node. EPERM, ENOSYS: the kernel does not permit or know the query.
 */
int ivl_object_bind(ivl_objects *objects, const void *object, size_t bytes,
		    const ivl_place *place);
/**
 * Forget an object. Waits for threads that are looking it up: microseconds, or some 10 ms under
 * many concurrent lookups. ENOENT: it is not bound.
 */
int ivl_object_unbind(ivl_objects *objects, void *object);
/** The place of an object. NULL: it is not bound. */
const ivl_place *ivl_object_place(ivl_objects *objects, const void *object);

/**
 * The place for a task that uses these objects: on the node that has most of their bytes, the place
 * that has most. Of equals, that of the object which comes first. NULL, which as a hint means no
 * preference: none of them is bound.
 *
 * In the terms of section 5.4: the largest of the similarity indices S(task, node) = |D_task &
 * D_node| / |D|, each object weighted by its bytes. Allocates nothing.
 */
const ivl_place *ivl_dispatch(ivl_objects *objects, const void *const *uses, size_t count);

/** @} */

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
