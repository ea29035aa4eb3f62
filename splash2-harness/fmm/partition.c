// SPDX-License-Identifier: GPL-2.0
/*
 * The boxes that a worker works on, by level. Going through them in this order, or the
 * reverse, every worker comes to an end with waiting for parents, or for children: for a
 * box at the level next to its own whose worker is not ahead of it.
 */
#include <stdlib.h>

#include "fmm.h"

void list_add(struct list *list, struct box *box)
{
	if (list->count == list->capacity) {
		list->capacity = list->capacity ? 2 * list->capacity : 8;
		list->box = realloc(list->box, list->capacity * sizeof(*list->box));
		if (!list->box)
			splash_refuse("no memory for a list of %u boxes: choose a smaller problem",
				      list->capacity);
	}
	list->box[list->count++] = box;
}

static int compare_levels(const void *a, const void *b)
{
	const struct box *const *first = a, *const *second = b;

	return (*first)->level - (*second)->level;
}

void partition_sort(struct list *partition)
{
	if (partition->count)
		qsort(partition->box, partition->count, sizeof(*partition->box), compare_levels);
}

/* Before it is known how much work the boxes are: those that the worker took itself. */
void partition_taken(struct zone *zone)
{
	zone->partition.count = 0;
	for (size_t i = 0; i < zone->boxes.used; i++) {
		struct box *box = pool_at(&zone->boxes, i);

		if (!box->merged)
			list_add(&zone->partition, box);
	}
	partition_sort(&zone->partition);
}

void partition_climb(struct splash_worker *w, const struct list *partition,
		     void (*finish)(struct box *box), void (*add_to_parent)(const struct box *box))
{
	for (uint32_t i = partition->count; i > 0; i--) {
		struct box *box = partition->box[i - 1], *parent = box->parent;
		bool last;

		if (box->children) {
			splash_flag_wait(w, &box->children_done);
			splash_flag_clear(&box->children_done);
			box->arrived = 0;
		}
		finish(box);
		if (!parent)
			continue;
		box_lock(w, parent);
		add_to_parent(box);
		last = ++parent->arrived == parent->children;
		box_unlock(parent);
		if (last)
			splash_flag_set(&parent->children_done);
	}
}
