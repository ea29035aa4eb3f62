// SPDX-License-Identifier: GPL-2.0
#include "../doubly_list.c"
#include "sabotage.h"

SABOTAGE(lost_update)
{
	--*(uint64_t *)((char *)padded_at(&elements, 0) + (opt->cs_lines - 1) * opt->line);
}

SABOTAGE(lost_visit)
{
	for (unsigned int i = 0; i < opt->cs_lines; i++)
		--*(uint64_t *)((char *)padded_at(&elements, 0) + i * opt->line);
}

SABOTAGE(lost_element)
{
	dequeue(padded_at(&the_list, 0));
}

SABOTAGE(ring)
{
	struct list *list = padded_at(&the_list, 0);

	list->tail->next = list->head;
}

SABOTAGE(back_link)
{
	struct list *list = padded_at(&the_list, 0);

	list->head->next->prev = NULL;
}

SABOTAGE(stale_tail)
{
	struct list *list = padded_at(&the_list, 0);

	list->tail = list->tail->prev;
}
