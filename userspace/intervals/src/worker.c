// SPDX-License-Identifier: LGPL-2.1-or-later
#include "worker.h"

__thread struct ivl_worker *ivl_worker_self;

static __thread struct ivl_local foreign;

struct ivl_local *ivl_local(void)
{
	struct ivl_worker *worker = ivl_self();

	return worker ? &worker->fiber->local : &foreign;
}
