// SPDX-License-Identifier: LGPL-2.1-or-later
#include "mailbox.h"

#include "tsan.h"

void ivl_mailbox_init(struct ivl_mailbox *mailbox)
{
	cds_wfcq_init(&mailbox->head, &mailbox->tail);
}

void ivl_mailbox_destroy(struct ivl_mailbox *mailbox)
{
	cds_wfcq_destroy(&mailbox->head, &mailbox->tail);
}

void ivl_mailbox_put(struct ivl_mailbox *mailbox, struct ivl_work *work)
{
	cds_wfcq_node_init(&work->node);
	ivl_tsan_release(work);
	cds_wfcq_enqueue(&mailbox->head, &mailbox->tail, &work->node);
}

bool ivl_mailbox_empty(struct ivl_mailbox *mailbox)
{
	return cds_wfcq_empty(&mailbox->head, &mailbox->tail);
}

struct ivl_work *ivl_mailbox_take(struct ivl_mailbox *mailbox, bool *more)
{
	struct cds_wfcq_node *node;
	struct ivl_work *work;

	if (ivl_mailbox_empty(mailbox) ||
	    atomic_exchange_explicit(&mailbox->taken, true, memory_order_acquire))
		return NULL;
	node = __cds_wfcq_dequeue_nonblocking(&mailbox->head, &mailbox->tail);
	if (node == CDS_WFCQ_WOULDBLOCK)
		node = NULL;
	*more = node && !ivl_mailbox_empty(mailbox);
	atomic_store_explicit(&mailbox->taken, false, memory_order_release);
	if (!node)
		return NULL;
	work = caa_container_of(node, struct ivl_work, node);
	ivl_tsan_acquire(work);
	return work;
}
