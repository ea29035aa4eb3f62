// SPDX-License-Identifier: GPL-2.0
#include "../doubly_list.c"
#include "sabotage.h"

static void lost_update(void)
{
	--*(uint64_t *)((char *)padded_at(&elements, 0) + (opt->cs_lines - 1) * opt->line);
}

static void lost_visit(void)
{
	for (unsigned int i = 0; i < opt->cs_lines; i++)
		--*(uint64_t *)((char *)padded_at(&elements, 0) + i * opt->line);
}

static void lost_element(void)
{
	dequeue(padded_at(&the_list, 0));
}

static void ring(void)
{
	struct list *list = padded_at(&the_list, 0);

	list->tail->next = list->head;
}

static void back_link(void)
{
	struct list *list = padded_at(&the_list, 0);

	list->head->next->prev = NULL;
}

static void stale_tail(void)
{
	struct list *list = padded_at(&the_list, 0);

	list->tail = list->tail->prev;
}

const struct sabotage sabotages[] = {
	{ "lost_update", lost_update },
	{ "lost_visit", lost_visit },
	{ "lost_element", lost_element },
	{ "ring", ring },
	{ "back_link", back_link },
	{ "stale_tail", stale_tail },
	{ 0 }
};
