// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ticket.h"

#include <place.h>

struct ivl_ticket_block {
	struct ivl_ticket_block *next;
	struct ivl_ticket tickets[IVL_TICKETS_IN_BLOCK];
};

struct ivl_tickets *ivl_tickets_create(int node)
{
	struct ivl_tickets *tickets = ivl_node_alloc(sizeof(*tickets), node);

	if (!tickets)
		return NULL;
	tickets->free = NULL;
	tickets->blocks = NULL;
	tickets->node = node;
	atomic_init(&tickets->returned, NULL);
	return tickets;
}

void ivl_tickets_destroy(struct ivl_tickets *tickets)
{
	struct ivl_ticket_block *block;

	while ((block = tickets->blocks)) {
		tickets->blocks = block->next;
		ivl_node_free(block, sizeof(*block), tickets->node);
	}
	ivl_node_free(tickets, sizeof(*tickets), tickets->node);
}

static void put_free(struct ivl_tickets *tickets, struct ivl_ticket *ticket)
{
	atomic_store_explicit(&ticket->next, tickets->free, memory_order_relaxed);
	tickets->free = ticket;
}

static void add_block(struct ivl_tickets *tickets)
{
	struct ivl_ticket_block *block = ivl_node_alloc(sizeof(*block), tickets->node);

	if (!block)
		return;
	block->next = tickets->blocks;
	tickets->blocks = block;
	for (int i = 0; i < IVL_TICKETS_IN_BLOCK; i++) {
		atomic_init(&block->tickets[i].element, NULL);
		atomic_init(&block->tickets[i].next, tickets->free);
		tickets->free = &block->tickets[i];
	}
}

struct ivl_ticket *ivl_ticket_write(struct ivl_tickets *tickets, void *element)
{
	struct ivl_ticket *ticket;

	if (!tickets->free)
		/* Pairs with the CAS in steal(): the links, and that the tickets are empty. */
		tickets->free = atomic_exchange_explicit(&tickets->returned, NULL,
							 memory_order_acquire);
	if (!tickets->free)
		add_block(tickets);
	ticket = tickets->free;
	if (!ticket)
		return NULL;
	tickets->free = atomic_load_explicit(&ticket->next, memory_order_relaxed);
	/* Pairs with the exchange in steal() of a thief with an old ticket. */
	atomic_store_explicit(&ticket->element, element, memory_order_release);
	return ticket;
}

void *ivl_ticket_take(struct ivl_tickets *tickets, struct ivl_ticket *ticket)
{
	/* Relaxed: the owner wrote it. */
	void *element = atomic_exchange_explicit(&ticket->element, NULL, memory_order_relaxed);

	if (element)
		put_free(tickets, ticket);
	return element;
}

void *ivl_ticket_steal(struct ivl_tickets *tickets, struct ivl_ticket *ticket)
{
	/* Pairs with the store in write(). */
	void *element = atomic_exchange_explicit(&ticket->element, NULL, memory_order_acquire);
	struct ivl_ticket *first;

	if (!element)
		return NULL;
	first = atomic_load_explicit(&tickets->returned, memory_order_relaxed);
	do {
		atomic_store_explicit(&ticket->next, first, memory_order_relaxed);
		/* Pairs with the exchange in write(), which takes all: no ABA. */
	} while (!atomic_compare_exchange_weak_explicit(&tickets->returned, &first, ticket,
							memory_order_release,
							memory_order_relaxed));
	return element;
}
