/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Exactly once from queues that deliver at least once. The queue holds tickets, a ticket holds the
 * element, and the thread that exchanges it for NULL gets it.
 *
 * Tickets live until the end, so a thief may keep an old one: it finds NULL, or another element
 * that it may run. There are as many tickets as there were elements at one time, rounded up to a
 * block.
 */
#ifndef IVL_TICKET_H
#define IVL_TICKET_H

#include <stddef.h>

#include "atomics.h"
#include "queue.h"

struct ivl_ticket {
	_Atomic(void *) element;
	_Atomic(struct ivl_ticket *) next;	/* in a free list */
};

struct ivl_ticket_block;

struct ivl_tickets {
	/* Owner's. */
	_Alignas(IVL_LINE) struct ivl_ticket *free;
	struct ivl_ticket_block *blocks;
	int node;
	/* Tickets returned by thieves. */
	_Alignas(IVL_LINE) _Atomic(struct ivl_ticket *) returned;
};

/* NULL: ENOMEM. */
struct ivl_tickets *ivl_tickets_create(int node);
/* No thread may use a ticket any more. */
void ivl_tickets_destroy(struct ivl_tickets *tickets);

/* Owner. NULL: ENOMEM. */
struct ivl_ticket *ivl_ticket_write(struct ivl_tickets *tickets, void *element);
/* Get the ticket's element, as owner or thief; NULL: another thread has it. */
void *ivl_ticket_take(struct ivl_tickets *tickets, struct ivl_ticket *ticket);
void *ivl_ticket_steal(struct ivl_tickets *tickets, struct ivl_ticket *ticket);

#endif
