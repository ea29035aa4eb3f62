// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Tied tasks: one that becomes ready goes to a mailbox of its worker, which sleeps on an eventcount
 * of its own so that it can be woken alone.
 */
#include "run_queue.h"
#include "waking.h"

void ivl_tied_init(struct ivl_tied *tied, struct ivl_worker *worker)
{
	tied->worker = worker;
	ivl_mailbox_init(&tied->returning);
	ivl_mailbox_init(&tied->first);
	ivl_eventcount_init(&tied->sleepers.eventcount);
}

void ivl_tied_destroy(struct ivl_tied *tied)
{
	ivl_mailbox_destroy(&tied->returning);
	ivl_mailbox_destroy(&tied->first);
}

bool ivl_tied_returned(struct ivl_tied *tied)
{
	return !ivl_mailbox_empty(&tied->first) ||
	       (!ivl_mailbox_empty(&tied->returning) && !ivl_is_restricted(tied->worker));
}

struct ivl_work *ivl_tied_take(struct ivl_tied *tied)
{
	bool more;
	struct ivl_work *work = ivl_mailbox_take(&tied->first, &more);

	if (!work && !ivl_is_restricted(tied->worker))
		work = ivl_mailbox_take(&tied->returning, &more);
	return work;
}

void ivl_tied_return(struct ivl_waiter *waiter)
{
	struct ivl_tied *tied = waiter->tied;
	ivl_runtime *runtime = tied->worker->runtime;
	const bool counted = ivl_submit_begin(runtime);

	ivl_mailbox_put(waiter->exclusive ? &tied->first : &tied->returning, &waiter->work);
	ivl_eventcount_notify(&tied->sleepers.eventcount, 1);
	ivl_submit_end(runtime, counted);
}
