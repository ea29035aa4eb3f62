// SPDX-License-Identifier: LGPL-2.1-or-later
#include "deferred.h"

void ivl_deferred_remove(struct ivl_deferred **list, struct ivl_deferred *counts)
{
	while (*list != counts)
		list = &(*list)->next;
	*list = counts->next;
	counts->from = NULL;
}

bool ivl_flush_deferred_except(struct ivl_deferred *list, struct ivl_worker *worker,
			       const void *one, bool leaves)
{
	struct ivl_deferred *next;
	bool told = false;

	for (; list; list = next) {
		next = list->next;
		if (list->from != one) {
			list->tell(worker, leaves);
			told = true;
		}
	}
	return told;
}
