// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reduce and scan. */
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

/*
 * Who comes to a part when all before it is done scans it at once; else its sum is
 * found first, and it is scanned in a second pass. One worker needs no second pass.
 *
 * What comes before a part is then one sum, or sums of parts combined, as it happens: not
 * where the grain is given.
 */
struct scan {
	size_t begin, end, grain, parts, bytes;
	bool given;
	/* Of each part; when it has been scanned, or waits for that, of all up to its end. */
	char *sums;
	/* All parts before it have been scanned. */
	_Atomic size_t front;
	const void *nothing;
	ivl_part *part, *scan;
	void *arg;
};

static void run_part(const struct scan *scan, ivl_part *run, size_t part, void *sum)
{
	const size_t begin = scan->begin + part * scan->grain;

	run(begin, scan->end - begin < scan->grain ? scan->end : begin + scan->grain, sum,
	    scan->arg);
}

/* `keep`: its sum, for those who come after it; others have it already. */
static void scan_part(const struct scan *scan, size_t part, bool keep)
{
	char *const sums = scan->sums + part * scan->bytes;
	/* Not in its place: others write beside it. */
	_Alignas(max_align_t) char sum[scan->bytes + 1];

	memcpy(sum, part ? sums - scan->bytes : scan->nothing, scan->bytes);
	run_part(scan, scan->scan, part, sum);
	if (keep)
		memcpy(sums, sum, scan->bytes);
}

static void sum_part(const struct scan *scan, size_t part)
{
	_Alignas(max_align_t) char sum[scan->bytes + 1];

	memcpy(sum, scan->nothing, scan->bytes);
	run_part(scan, scan->part, part, sum);
	memcpy(scan->sums + part * scan->bytes, sum, scan->bytes);
}

struct parts {
	struct scan *scan;
	size_t begin, end;
};

/* What comes first is done first, if nobody else does it. */
static void first_pass(void *arg)
{
	const struct parts *whole = arg;
	struct scan *scan = whole->scan;
	const size_t part = whole->begin, middle = part + (whole->end - part) / 2;
	struct parts left = { scan, part, middle }, right = { scan, middle, whole->end };
	struct ivl_scope scope = IVL_SCOPE_INIT;
	struct ivl_task task;

	if (whole->end - part > 1) {
		const int error = ivl_spawn(&scope, &task, first_pass, &right);

		first_pass(&left);
		if (error)
			first_pass(&right);
		ivl_sync(&scope);
	} else if (!part || (!scan->given && atomic_load_explicit(&scan->front,
								  memory_order_acquire) == part)) {
		scan_part(scan, part, true);
		atomic_store_explicit(&scan->front, part + 1, memory_order_release);
	} else if (whole->end < scan->parts) {
		/* Nobody comes after the last one. */
		sum_part(scan, part);
	}
}

static void second_pass(size_t part, size_t end, void *arg)
{
	const struct scan *scan = arg;

	for (; part < end; part++)
		scan_part(scan, part, part + 1 == scan->parts);
}

void ivl_parallel_scan_parts(size_t begin, size_t end, size_t grain, void *sum, size_t bytes,
			     ivl_part *part, ivl_part *scan, ivl_combine *combine, void *arg)
{
	struct scan all = { .begin = begin, .end = end, .bytes = bytes, .given = grain,
			    .nothing = sum, .part = part, .scan = scan, .arg = arg };
	size_t front;

	if (begin >= end)
		return;
	all.grain = grain ? grain : ivl_grain(end - begin);
	all.parts = (end - begin - 1) / all.grain + 1;
	/* Outside of any runtime a spawn is a call, too early. */
	all.sums = grain || ivl_self() ? calloc(all.parts, bytes) : NULL;
	if (!all.sums) {
		scan(begin, end, sum, arg);
		return;
	}
	first_pass(&(struct parts){ &all, 0, all.parts });
	front = atomic_load_explicit(&all.front, memory_order_relaxed);
	for (size_t next = front; next + 1 < all.parts; next++) {
		_Alignas(max_align_t) char before[bytes + 1];

		memcpy(before, all.sums + (next - 1) * bytes, bytes);
		combine(before, all.sums + next * bytes, arg);
		memcpy(all.sums + next * bytes, before, bytes);
	}
	ivl_parallel_for(front, all.parts, 1, second_pass, &all);
	memcpy(sum, all.sums + (all.parts - 1) * bytes, bytes);
	free(all.sums);
}

/* Of an array; its sums have a byte more, which is not 0 when there is one. */
struct elements {
	char *out;
	const char *in;
	size_t bytes;
	ivl_combine *combine;
	void *arg;
};

static void add_element(const struct elements *all, char *sum, size_t i)
{
	const char *element = all->in + i * all->bytes;

	if (sum[all->bytes]) {
		all->combine(sum, element, all->arg);
	} else {
		memcpy(sum, element, all->bytes);
		sum[all->bytes] = 1;
	}
}

static void sum_elements(size_t begin, size_t end, void *sum, void *arg)
{
	for (; begin < end; begin++)
		add_element(arg, sum, begin);
}

static void scan_elements(size_t begin, size_t end, void *sum, void *arg)
{
	const struct elements *all = arg;

	for (; begin < end; begin++) {
		add_element(all, sum, begin);
		memcpy(all->out + begin * all->bytes, sum, all->bytes);
	}
}

static void combine_sums(void *sum, const void *more, void *arg)
{
	const struct elements *all = arg;

	all->combine(sum, more, all->arg);
}

void ivl_parallel_scan(void *out, const void *in, size_t count, size_t bytes, size_t grain,
		       ivl_combine *combine, void *arg)
{
	struct elements all = { out, in, bytes, combine, arg };
	/* Sums in a row are aligned as elements are that come from malloc(). */
	const size_t size = (bytes / _Alignof(max_align_t) + 1) * _Alignof(max_align_t);
	_Alignas(max_align_t) char sum[size];

	if (!bytes)
		return;
	memset(sum, 0, size);
	ivl_parallel_scan_parts(0, count, grain, sum, size, sum_elements, scan_elements,
				combine_sums, &all);
}
