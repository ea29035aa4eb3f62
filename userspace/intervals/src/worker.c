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

void ivl_deferred_remove(struct ivl_worker *worker, struct ivl_deferred *held)
{
	struct ivl_deferred **place = &worker->held;

	while (*place != held)
		place = &(*place)->next;
	*place = held->next;
	held->from = NULL;
}

bool ivl_flush_deferred_except(struct ivl_worker *worker, const void *one, bool leaves)
{
	struct ivl_deferred *held = worker->held, *next;
	bool told = false;

	for (; held; held = next) {
		next = held->next;
		if (held->from != one) {
			held->tell(worker, leaves);
			told = true;
		}
	}
	return told;
}
