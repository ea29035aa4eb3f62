/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Exactly once from queues that give an element at least once. The queue holds
 * tickets, a ticket holds the element, and who exchanges it for NULL has it.
 *
 * A ticket is never given back before the end, so that a thief may hold an old one
 * as long as it likes: it finds NULL, or another element, which then is its own to
 * run. There are as many tickets as there were elements at one time, rounded up to
 * a block.
 */
#ifndef IVL_TICKET_H
#define IVL_TICKET_H

#include <stddef.h>

#include "atomics.h"
#include "queue.h"

struct ivl_ticket {
	_Atomic(void *) element;
	_Atomic(struct ivl_ticket *) next;	/* that is free */
};

struct ivl_ticket_block;

struct ivl_tickets {
	/* Of the owner. */
	_Alignas(IVL_LINE) struct ivl_ticket *free;
	struct ivl_ticket_block *blocks;
	int node;
	/* Where thieves give tickets back. */
	_Alignas(IVL_LINE) _Atomic(struct ivl_ticket *) returned;
};

/* NULL: ENOMEM. */
struct ivl_tickets *ivl_tickets_create(int node);
/* Nobody else may use any more, nor what is in a queue. */
void ivl_tickets_destroy(struct ivl_tickets *tickets);

/* Owner: a ticket for the element; NULL: ENOMEM. */
struct ivl_ticket *ivl_ticket_write(struct ivl_tickets *tickets, void *element);
/* Who takes or steals a ticket gets its element, or NULL: another has it. */
void *ivl_ticket_take(struct ivl_tickets *tickets, struct ivl_ticket *ticket);
void *ivl_ticket_steal(struct ivl_tickets *tickets, struct ivl_ticket *ticket);

#endif
