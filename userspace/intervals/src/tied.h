/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tied tasks, which resume only on the worker where they have waited. */
#ifndef IVL_TIED_H
#define IVL_TIED_H

#include "eventcount.h"
#include "mailbox.h"

struct ivl_waiter;
struct ivl_worker;

/* Of a worker with tied tasks: its ready fibers, and where it sleeps. */
struct ivl_tied {
	struct ivl_worker *worker;
	struct ivl_sleepers sleepers;
	struct ivl_mailbox returning;	/* ready fibers of this worker */
	struct ivl_mailbox first;	/* those in exclusive waits (attach.h) */
};

/* `tied` is zeroed memory. */
void ivl_tied_init(struct ivl_tied *tied, struct ivl_worker *worker);
void ivl_tied_destroy(struct ivl_tied *tied);
/* Is a fiber ready that only this worker can resume, and may it? */
bool ivl_tied_returned(struct ivl_tied *tied);
/* Work that resumes it; NULL: none. Called on the worker's thread. */
struct ivl_work *ivl_tied_take(struct ivl_tied *tied);
/* Make a tied waiter ready. Any thread. */
void ivl_tied_return(struct ivl_waiter *waiter);

#endif
