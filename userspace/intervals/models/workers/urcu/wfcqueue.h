/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* In the models' place of liburcu: the mailboxes are queues of the model (relacy_worker.hpp). */
#ifndef IVL_MODEL_WFCQUEUE_H
#define IVL_MODEL_WFCQUEUE_H

#include <cstddef>

#include "relacy_queue.hpp"

struct cds_wfcq_node {
	struct cds_wfcq_node *next;
};

struct cds_wfcq_head {
	/* One thread takes from it at a time. */
	IVL_SHARED(int) taken;
};

struct cds_wfcq_tail {
	ivl_model_queue queue;
};

#define caa_container_of(pointer, type, member) \
	((type *)((char *)(pointer) - offsetof(type, member)))

#define CDS_WFCQ_WOULDBLOCK ((struct cds_wfcq_node *)-1)
#define cds_wfcq_init(head, tail) ((void)(head), (void)(tail))
#define cds_wfcq_destroy(head, tail) cds_wfcq_init(head, tail)
#define cds_wfcq_node_init(node) ((node)->next = NULL)
#define cds_wfcq_enqueue(head, tail, node) ((tail)->queue.put(node))
#define cds_wfcq_empty(head, tail) ((tail)->queue.size() == 0)
#define __cds_wfcq_dequeue_nonblocking(head, tail) \
	((head)->taken = 0, (struct cds_wfcq_node *)(tail)->queue.take_oldest())

#endif
