// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Tasks that go on in the thread in which they have waited: what makes such a one go on comes to a
 * mailbox of its worker, which sleeps apart from others, so that it is the one that is woken.
 */
#include "run_queue.h"
#include "waking.h"

void ivl_bound_init(struct ivl_bound *bound, struct ivl_worker *worker)
{
	bound->worker = worker;
	ivl_mailbox_init(&bound->returning);
	ivl_mailbox_init(&bound->first);
	ivl_eventcount_init(&bound->sleepers.eventcount);
}

void ivl_bound_destroy(struct ivl_bound *bound)
{
	ivl_mailbox_destroy(&bound->returning);
	ivl_mailbox_destroy(&bound->first);
}

bool ivl_bound_returned(struct ivl_bound *bound)
{
	return !ivl_mailbox_empty(&bound->first) ||
	       (!ivl_mailbox_empty(&bound->returning) && !ivl_is_held_up(bound->worker));
}

struct ivl_work *ivl_bound_take(struct ivl_bound *bound)
{
	bool more;
	struct ivl_work *work = ivl_mailbox_take(&bound->first, &more);

	if (!work && !ivl_is_held_up(bound->worker))
		work = ivl_mailbox_take(&bound->returning, &more);
	return work;
}

void ivl_bound_return(struct ivl_waiter *waiter)
{
	struct ivl_bound *bound = waiter->bound;
	ivl_runtime *runtime = bound->worker->runtime;
	const bool visits = ivl_visit(runtime);

	ivl_mailbox_put(waiter->alone ? &bound->first : &bound->returning, &waiter->work);
	ivl_eventcount_notify(&bound->sleepers.eventcount, 1);
	ivl_leave(runtime, visits);
}
