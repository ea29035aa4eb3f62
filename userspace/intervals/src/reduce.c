// SPDX-License-Identifier: LGPL-2.1-or-later
#include "intervals_algorithms.h"

#include <stdlib.h>
#include <string.h>

#include "outside.h"

struct reduction {
	size_t grain, bytes;
	void *nothing;
	ivl_part *part;
	ivl_combine *combine;
	void *arg;
};

struct half {
	struct reduction *of;
	size_t begin, end;
	void *sum;
};

/* Whole cache lines, since another worker writes the next ones. NULL: ENOMEM. */
static void *allocate(size_t bytes)
{
	return aligned_alloc(IVL_LINE, (bytes + IVL_LINE - 1) / IVL_LINE * IVL_LINE);
}

/* Without memory for another sum. */
static void reduce_alone(const struct half *whole)
{
	const struct reduction *of = whole->of;
	size_t begin = whole->begin;

	for (; whole->end - begin > of->grain; begin += of->grain)
		of->part(begin, begin + of->grain, whole->sum, of->arg);
	of->part(begin, whole->end, whole->sum, of->arg);
}

static void reduce(void *arg);

static void reduce_both(const struct half *whole, void *more)
{
	struct reduction *of = whole->of;
	const size_t middle = whole->begin + (whole->end - whole->begin) / 2;
	struct half left = { of, whole->begin, middle, whole->sum };
	struct half right = { of, middle, whole->end, more };
	struct ivl_scope scope = IVL_SCOPE_INIT;
	struct ivl_task task;

	memcpy(more, of->nothing, of->bytes);
	/* The first half now: a worker goes through memory upwards. */
	if (ivl_spawn(&scope, &task, reduce, &right))
		reduce(&right);
	reduce(&left);
	ivl_sync(&scope);
	of->combine(whole->sum, more, of->arg);
}

/* `sum` is the identity. */
static void reduce(void *arg)
{
	const struct half *whole = arg;
	const struct reduction *of = whole->of;
	void *more;

	if (whole->end - whole->begin <= of->grain) {
		of->part(whole->begin, whole->end, whole->sum, of->arg);
	} else if (of->bytes <= IVL_SUM_ON_STACK) {
		_Alignas(max_align_t) char small[of->bytes + 1];

		reduce_both(whole, small);
	} else if ((more = allocate(of->bytes))) {
		reduce_both(whole, more);
		free(more);
	} else {
		reduce_alone(whole);
	}
}

static void begin(void *arg)
{
	struct half *whole = arg;
	struct reduction *of = whole->of;

	if (!of->grain)
		of->grain = ivl_grain(whole->end - whole->begin);
	memcpy(of->nothing, whole->sum, of->bytes);
	reduce(whole);
}

static void reduce_all(struct half *whole)
{
	if (!ivl_run_parts_outside(whole->end - whole->begin, whole->of->grain, begin, whole))
		begin(whole);
}

void ivl_parallel_reduce(size_t begin, size_t end, size_t grain, void *sum, size_t bytes,
			 ivl_part *part, ivl_combine *combine, void *arg)
{
	struct reduction of = { grain, bytes, NULL, part, combine, arg };
	struct half whole = { &of, begin, end, sum };

	if (begin >= end)
		return;
	if (bytes <= IVL_SUM_ON_STACK) {
		_Alignas(max_align_t) char small[bytes + 1];

		of.nothing = small;
		reduce_all(&whole);
	} else if ((of.nothing = allocate(bytes))) {
		reduce_all(&whole);
		free(of.nothing);
	} else {
		of.grain = grain ? grain : ivl_grain(end - begin);
		reduce_alone(&whole);
	}
}
