// SPDX-License-Identifier: LGPL-2.1-or-later
#include "worker.h"

/* Used by the assembly in arch.h, which link-time optimization does not read. */
__attribute__((used)) __thread struct ivl_worker *ivl_worker_self;

static __thread struct ivl_local foreign;

struct ivl_local *ivl_local(void)
{
	struct ivl_worker *worker = ivl_self();

	return worker ? &worker->fiber->local : &foreign;
}

void ivl_tell_awaited(const void *object,
		      bool (*describe)(const void *object, struct ivl_inspection *inspection))
{
	struct ivl_worker *worker = ivl_self();

	if (worker)
		worker->fiber->object = (struct ivl_awaited){ object, describe };
}
