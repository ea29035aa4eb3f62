/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A worker's state for finishes and asyncs. finish_count.h has the finish itself. */
#ifndef IVL_FINISH_H
#define IVL_FINISH_H

#include "deferred.h"

/* Counts of the finish `deferred.from`, taken ahead and not used. */
struct ivl_finish_reserve {
	struct ivl_deferred deferred;
	unsigned int count;
};

/* Start an async, by policy. 0 or ENOMEM. */
typedef int ivl_start_async(struct ivl_worker *worker, struct ivl_finish *finish,
			    ivl_function *function, const void *arg, size_t bytes,
			    const ivl_place *place);
/* The same by a thread that is no task, and will wait for the finish. */
int ivl_async_outside(ivl_runtime *runtime, struct ivl_finish *finish, ivl_function *function,
		      const void *arg, size_t bytes, const ivl_place *place);
extern ivl_start_async *const ivl_async_starts[IVL_POLICIES];

/* The policy of asyncs; its last fields are those of the adaptive one. */
struct ivl_async_policy {
	ivl_start_async *start;
	uint64_t lost_before;		/* ivl_worker.lost at the last review */
	unsigned int until;		/* asyncs left before the next review */
	bool help_first;		/* present choice */
};

#endif
