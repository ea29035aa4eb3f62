/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* FIFO queue of work: any thread puts, one worker at a time takes. */
#ifndef IVL_MAILBOX_H
#define IVL_MAILBOX_H

#include "atomics.h"
#include "queue.h"
#include "scheduler.h"

struct ivl_mailbox {
	_Alignas(IVL_LINE) struct cds_wfcq_tail tail;
	_Alignas(IVL_LINE) struct cds_wfcq_head head;
	_Atomic(bool) taken;		/* a worker is taking from it */
};

/* `mailbox` is zeroed memory. */
void ivl_mailbox_init(struct ivl_mailbox *mailbox);
void ivl_mailbox_destroy(struct ivl_mailbox *mailbox);

/* Any thread. The taker sees what was written before. */
void ivl_mailbox_put(struct ivl_mailbox *mailbox, struct ivl_work *work);
/*
 * Any thread. The oldest work, and whether there is more. NULL: empty, or another worker is taking.
 */
struct ivl_work *ivl_mailbox_take(struct ivl_mailbox *mailbox, bool *more);
/* Any thread; the answer may be out of date. */
bool ivl_mailbox_empty(struct ivl_mailbox *mailbox);

#endif
