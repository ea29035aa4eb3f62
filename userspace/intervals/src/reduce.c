// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reduce and scan. */
#include "intervals_algorithms.h"

#include <stdlib.h>
#include <string.h>

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

struct scan {
	char *out;
	const char *in;
	size_t count, bytes, grain;
	char *sums;			/* of each part: all up to its end; at first its own */
	ivl_combine *combine;
	void *arg;
};

static size_t end_of(const struct scan *scan, size_t part)
{
	const size_t begin = part * scan->grain;

	return scan->count - begin < scan->grain ? scan->count : begin + scan->grain;
}

static void sum_parts(size_t part, size_t last, void *arg)
{
	const struct scan *scan = arg;
	const size_t bytes = scan->bytes;

	for (; part < last; part++) {
		char *sum = scan->sums + part * bytes;
		size_t i = part * scan->grain;

		memcpy(sum, scan->in + i * bytes, bytes);
		while (++i < end_of(scan, part))
			scan->combine(sum, scan->in + i * bytes, scan->arg);
	}
}

/* From what comes before the first of them; NULL: nothing. */
static void scan_part(const struct scan *scan, size_t begin, size_t end, const char *before)
{
	const size_t bytes = scan->bytes;
	_Alignas(max_align_t) char sum[bytes];

	for (size_t i = begin; i < end; i++) {
		if (before || i > begin) {
			if (i == begin)
				memcpy(sum, before, bytes);
			scan->combine(sum, scan->in + i * bytes, scan->arg);
		} else {
			memcpy(sum, scan->in + i * bytes, bytes);
		}
		memcpy(scan->out + i * bytes, sum, bytes);
	}
}

static void scan_parts(size_t part, size_t last, void *arg)
{
	const struct scan *scan = arg;

	for (; part < last; part++)
		scan_part(scan, part * scan->grain, end_of(scan, part),
			  part ? scan->sums + (part - 1) * scan->bytes : NULL);
}

void ivl_parallel_scan(void *out, const void *in, size_t count, size_t bytes, size_t grain,
		       ivl_combine *combine, void *arg)
{
	struct scan scan = { out, in, count, bytes, grain ? grain : ivl_grain(count), NULL,
			     combine, arg };
	size_t parts;

	if (!count || !bytes)
		return;
	parts = (count - 1) / scan.grain + 1;
	scan.sums = calloc(parts, bytes);
	if (!scan.sums) {
		scan_part(&scan, 0, count, NULL);
		return;
	}
	/* All but the last, which nobody comes after. */
	ivl_parallel_for(0, parts - 1, 1, sum_parts, &scan);
	for (size_t part = 1; part + 1 < parts; part++) {
		_Alignas(max_align_t) char sum[bytes];

		memcpy(sum, scan.sums + (part - 1) * bytes, bytes);
		combine(sum, scan.sums + part * bytes, arg);
		memcpy(scan.sums + part * bytes, sum, bytes);
	}
	ivl_parallel_for(0, parts, 1, scan_parts, &scan);
	free(scan.sums);
}
