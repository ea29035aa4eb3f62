// SPDX-License-Identifier: GPL-2.0
#include "../doubly_list.c"
#include "sabotage.h"

static void lost_update(const struct options *opt)
{
	--*(uint64_t *)((char *)padded_at(&elements, 0) + (opt->cs_lines - 1) * opt->line);
}

static void lost_visit(const struct options *opt)
{
	for (unsigned int i = 0; i < opt->cs_lines; i++)
		--*(uint64_t *)((char *)padded_at(&elements, 0) + i * opt->line);
}

static void lost_element(const struct options *opt)
{
	(void)opt;
	dequeue(padded_at(&the_list, 0));
}

static void ring(const struct options *opt)
{
	struct list *list = padded_at(&the_list, 0);

	(void)opt;
	list->tail->next = list->head;
}

static void back_link(const struct options *opt)
{
	struct list *list = padded_at(&the_list, 0);

	(void)opt;
	list->head->next->prev = NULL;
}

static void stale_tail(const struct options *opt)
{
	struct list *list = padded_at(&the_list, 0);

	(void)opt;
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
