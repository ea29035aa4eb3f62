/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Work that anybody may put in, first in first out, and one worker at a time takes out. */
#ifndef IVL_MAILBOX_H
#define IVL_MAILBOX_H

#include "atomics.h"
#include "queue.h"
#include "scheduler.h"

struct ivl_mailbox {
	_Alignas(IVL_LINE) struct cds_wfcq_tail tail;
	_Alignas(IVL_LINE) struct cds_wfcq_head head;
	_Atomic(bool) taken;		/* one worker at a time looks into it */
};

/* In zeroed memory. */
void ivl_mailbox_init(struct ivl_mailbox *mailbox);
/* Nobody else may use it any more. */
void ivl_mailbox_destroy(struct ivl_mailbox *mailbox);

/* Any thread. What was written before is seen by who takes the work. */
void ivl_mailbox_put(struct ivl_mailbox *mailbox, struct ivl_work *work);
/*
 * Any thread: what came first, and whether there is more. NULL: nothing, or somebody else
 * is looking into it.
 */
struct ivl_work *ivl_mailbox_take(struct ivl_mailbox *mailbox, bool *more);
/* Any thread: is it empty, or was a moment ago? */
bool ivl_mailbox_empty(struct ivl_mailbox *mailbox);

#endif
