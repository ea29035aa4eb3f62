// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Tickets, over a queue of one slot that gives its element to every thief: the worst that an
 * at-least-once queue can do. The schedule decides how long a thief holds a ticket.
 */
#define IVL_TICKETS_IN_BLOCK 2
#include "queue_model.hpp"
#include "ticket.c"

template <int puts, int thieves, int steals>
struct exactly_once : rl::test_suite<exactly_once<puts, thieves, steals>, 1 + thieves> {
	ivl_tickets *tickets;
	ivl_model_item items[puts];
	rl::atomic<ivl_ticket *> queue;

	void before()
	{
		ivl_model_object_count = 0;
		ivl_model_allocations = 0;
		memset((void *)ivl_model_reads, 0, sizeof(ivl_model_reads));
		for (auto &item : items)
			item.count = 0;
		tickets = ivl_tickets_create(-1);
		queue.store(NULL, rl::mo_relaxed, $);
	}

	void thread(unsigned int index)
	{
		for (int i = 0; index && i < steals; i++) {
			ivl_ticket *ticket = queue.load(rl::mo_acquire, $);
			void *element = ticket ? ivl_ticket_steal(tickets, ticket) : NULL;

			if (element)
				ivl_model_deliver(element);
		}
		for (int i = 0; !index && i < puts; i++) {
			ivl_ticket *ticket;
			void *element;

			items[i].payload($) = 1;
			ticket = ivl_ticket_write(tickets, &items[i]);
			RL_ASSERT(ticket);
			queue.store(ticket, rl::mo_release, $);
			if (rl::rand(2) && (element = ivl_ticket_take(tickets, ticket)))
				ivl_model_deliver(element);
			left[i] = ticket;
		}
	}

	/* An element that no thief took is still in its ticket. */
	void after()
	{
		for (int i = 0; i < puts; i++) {
			void *element = ivl_ticket_take(tickets, left[i]);

			if (element)
				ivl_model_deliver(element);
		}
		for (auto &item : items)
			RL_ASSERT(item.count == 1);
		ivl_tickets_destroy(tickets);
		RL_ASSERT(ivl_model_allocations == 0);
	}

	ivl_ticket *left[puts];
};

int main(int argc, char **argv)
{
	return ivl_model<exactly_once<3, 1, 3>, exactly_once<4, 2, 3>>::main(argc, argv, {});
}
