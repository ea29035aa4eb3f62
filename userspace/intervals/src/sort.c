// SPDX-License-Identifier: LGPL-2.1-or-later
/* Merge sort. The merges are parallel, too: the last one would be serial otherwise. */
#include "intervals_algorithms.h"

#include <stdlib.h>
#include <string.h>

#include "outside.h"

struct order {
	size_t bytes;
	ivl_compare *compare;
	void *arg;
};

static char *at(const struct order *order, char *array, size_t index)
{
	return array + index * order->bytes;
}

static void both(ivl_function *function, void *left, void *right)
{
	struct ivl_scope scope = IVL_SCOPE_INIT;
	struct ivl_task task;

	if (ivl_spawn(&scope, &task, function, left))
		function(left);
	function(right);
	ivl_sync(&scope);
}

struct merge {
	const struct order *order;
	char *a, *b;			/* sorted inputs */
	size_t a_count, b_count;
	char *out;
};

static void merge_alone(struct merge *of)
{
	const struct order *order = of->order;
	const size_t bytes = order->bytes;

	while (of->a_count && of->b_count) {
		const bool first = order->compare(of->a, of->b, order->arg) <= 0;

		memcpy(of->out, first ? of->a : of->b, bytes);
		of->out += bytes;
		of->a += first ? bytes : 0;
		of->a_count -= first;
		of->b += first ? 0 : bytes;
		of->b_count -= !first;
	}
	memcpy(of->out, of->a_count ? of->a : of->b, (of->a_count + of->b_count) * bytes);
}

/* How many of `count` elements come before `element`. */
static size_t before(const struct order *order, char *array, size_t count, const char *element)
{
	size_t begin = 0;

	while (begin < count) {
		const size_t middle = begin + (count - begin) / 2;

		if (order->compare(at(order, array, middle), element, order->arg) < 0)
			begin = middle + 1;
		else
			count = middle;
	}
	return begin;
}

static void merge(void *arg)
{
	struct merge *whole = arg, left, right;
	const struct order *order = whole->order;

	if (whole->a_count + whole->b_count <= IVL_SORTED_ALONE) {
		merge_alone(whole);
		return;
	}
	/* Halve the longer one, and split the other accordingly. */
	if (whole->a_count < whole->b_count) {
		*whole = (struct merge){ order, whole->b, whole->a, whole->b_count, whole->a_count,
					 whole->out };
	}
	left = *whole;
	left.a_count = whole->a_count / 2;
	left.b_count = before(order, whole->b, whole->b_count, at(order, whole->a, left.a_count));
	right = (struct merge){
		order, at(order, whole->a, left.a_count), at(order, whole->b, left.b_count),
		whole->a_count - left.a_count, whole->b_count - left.b_count,
		at(order, whole->out, left.a_count + left.b_count)
	};
	both(merge, &left, &right);
}

struct sort {
	const struct order *order;
	char *array, *other;
	size_t count;
	bool into_other;		/* the result goes to `other` */
};

static void sort(void *arg)
{
	struct sort *whole = arg, left = *whole, right = *whole;
	const struct order *order = whole->order;
	char *from, *to;

	if (whole->count <= IVL_SORTED_ALONE) {
		qsort_r(whole->array, whole->count, order->bytes, order->compare, order->arg);
		if (whole->into_other)
			memcpy(whole->other, whole->array, whole->count * order->bytes);
		return;
	}
	left.count = whole->count / 2;
	right.count = whole->count - left.count;
	right.array = at(order, whole->array, left.count);
	right.other = at(order, whole->other, left.count);
	left.into_other = right.into_other = !whole->into_other;
	both(sort, &left, &right);

	from = whole->into_other ? whole->array : whole->other;
	to = whole->into_other ? whole->other : whole->array;
	merge(&(struct merge){ order, from, at(order, from, left.count), left.count, right.count,
			       to });
}

void ivl_parallel_sort(void *array, size_t count, size_t bytes, ivl_compare *compare, void *arg)
{
	const struct order order = { bytes, compare, arg };
	char *other = count > IVL_SORTED_ALONE ? calloc(count, bytes) : NULL;
	struct sort whole = { &order, array, other, count, false };

	if (other && !ivl_run_outside(sort, &whole))
		sort(&whole);
	else if (!other)
		qsort_r(array, count, bytes, compare, arg);
	free(other);
}
