// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reduce. */
#include "intervals_algorithms.h"

#include <stdlib.h>
#include <string.h>

#include "worker.h"

struct reduction {
	size_t grain, bytes;
	const void *nothing;
	ivl_part *part;
	ivl_combine *combine;
	void *arg;
};

struct half {
	const struct reduction *of;
	size_t begin, end;
	void *sum;
};

/* Into a sum that is nothing yet. */
static void reduce(void *arg)
{
	const struct half *whole = arg;
	const struct reduction *of = whole->of;
	const size_t middle = whole->begin + (whole->end - whole->begin) / 2;
	struct ivl_scope scope = IVL_SCOPE_INIT;
	struct ivl_task task;

	if (whole->end - whole->begin <= of->grain) {
		of->part(whole->begin, whole->end, whole->sum, of->arg);
		return;
	}
	_Alignas(max_align_t) char more[of->bytes + 1];
	struct half left = { of, whole->begin, middle, whole->sum };
	struct half right = { of, middle, whole->end, more };

	memcpy(more, of->nothing, of->bytes);
	if (ivl_spawn(&scope, &task, reduce, &left))
		reduce(&left);
	reduce(&right);
	ivl_sync(&scope);
	of->combine(whole->sum, more, of->arg);
}

void ivl_parallel_reduce(size_t begin, size_t end, size_t grain, void *sum, size_t bytes,
			 ivl_part *part, ivl_combine *combine, void *arg)
{
	if (begin >= end)
		return;
	_Alignas(max_align_t) char nothing[bytes + 1];
	const struct reduction of = {
		grain ? grain : ivl_grain(end - begin), bytes, nothing, part, combine, arg
	};
	struct half whole = { &of, begin, end, sum };

	memcpy(nothing, sum, bytes);
	reduce(&whole);
}
