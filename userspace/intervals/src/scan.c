// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Scan: prefix sums. A range is cut into parts, taken in order. A task that takes a part and knows
 * the sum before it scans at once, so that one worker needs no second pass. Otherwise it computes
 * the part's own sum, and scans the part as soon as the sum before it is known, while the elements
 * are still in the cache. (Merrill and Garland, Single-pass parallel prefix scan with decoupled
 * look-back, 2016, for a GPU.)
 */
#include "intervals_algorithms.h"

#include <stdlib.h>
#include <string.h>

#include <urcu/arch.h>

#include "clock.h"
#include "outside.h"
#include "prefix.h"

/* Unless the grain is given, the sum before a part may be one sum or combined from several. */
struct scan {
	size_t begin, end, grain, parts, bytes;
	bool given;
	/* Parts taken. */
	_Atomic size_t taken;
	/* Per part: its own sum, then the sum up to its end. */
	char *sums;
	/* Per part: where a sum is computed; NULL: on the stack. */
	char *rooms;
	struct part {
		struct ivl_prefix prefix;
		bool scanned;
	} *state;
	void *nothing;			/* and then the whole sum */
	ivl_part *part, *scan;
	ivl_combine *combine;
	void *arg;
};

static void run_part(const struct scan *scan, ivl_part *run, size_t part, void *sum)
{
	const size_t begin = scan->begin + part * scan->grain;

	run(begin, scan->end - begin < scan->grain ? scan->end : begin + scan->grain, sum,
	    scan->arg);
}

static size_t on_stack(const struct scan *scan)
{
	return scan->rooms ? 1 : scan->bytes + 1;
}

/* `small` has on_stack() bytes. One task at a time sums a part. */
static char *room(const struct scan *scan, size_t part, char *small)
{
	return scan->rooms ? scan->rooms + part * scan->bytes : small;
}

/* `keep`: store the sum for later parts, unless it is there. */
static void scan_part(const struct scan *scan, size_t part, bool keep)
{
	char *const sums = scan->sums + part * scan->bytes;
	/* Not in place: other tasks write the neighbouring sums. */
	_Alignas(max_align_t) char small[on_stack(scan)];
	char *const sum = room(scan, part, small);

	memcpy(sum, part ? sums - scan->bytes : scan->nothing, scan->bytes);
	run_part(scan, scan->scan, part, sum);
	if (keep)
		memcpy(sums, sum, scan->bytes);
	scan->state[part].scanned = true;
}

static void sum_part(const struct scan *scan, size_t part)
{
	_Alignas(max_align_t) char small[on_stack(scan)];
	char *const sum = room(scan, part, small);

	memcpy(sum, scan->nothing, scan->bytes);
	run_part(scan, scan->part, part, sum);
	memcpy(scan->sums + part * scan->bytes, sum, scan->bytes);
}

/* If the caller brings the second sum of this part, continue with the next. */
static void add_up(const struct scan *scan, size_t part)
{
	for (; part < scan->parts && ivl_prefix_meet(&scan->state[part].prefix); part++) {
		char *const sums = scan->sums + part * scan->bytes;
		_Alignas(max_align_t) char small[on_stack(scan)];
		char *const before = room(scan, part, small);

		memcpy(before, sums - scan->bytes, scan->bytes);
		scan->combine(before, sums, scan->arg);
		memcpy(sums, before, scan->bytes);
		ivl_prefix_add(&scan->state[part].prefix);
	}
}

/*
 * Is the sum up to the part's end known? Waits as long as its own took, since `began`: scanning it
 * later, out of the cache, costs about as much.
 */
static bool wait_until_added(struct ivl_prefix *part, uint64_t began)
{
	const uint64_t ended = ivl_clock_ns(CLOCK_MONOTONIC);

	while (!ivl_prefix_added(part)) {
		if (ivl_clock_ns(CLOCK_MONOTONIC) - ended > ended - began)
			return false;
		caa_cpu_relax();
	}
	return true;
}

static void next_part(struct scan *scan)
{
	const size_t part = atomic_fetch_add_explicit(&scan->taken, 1, memory_order_relaxed);
	struct ivl_prefix *const prefix = &scan->state[part].prefix;

	if (!part || (!scan->given && ivl_prefix_ready(prefix))) {
		scan_part(scan, part, true);
		add_up(scan, part + 1);
	} else if (part + 1 < scan->parts) {
		const uint64_t began = ivl_clock_ns(CLOCK_MONOTONIC);

		sum_part(scan, part);
		add_up(scan, part);
		if (wait_until_added(prefix, began))
			scan_part(scan, part, false);
	}
}

static void first_pass(size_t part, size_t end, void *arg)
{
	for (; part < end; part++)
		next_part(arg);
}

static void second_pass(size_t part, size_t end, void *arg)
{
	const struct scan *scan = arg;

	for (; part < end; part++) {
		if (!scan->state[part].scanned)
			scan_part(scan, part, part + 1 == scan->parts);
	}
}

static size_t choose_grain(size_t count, size_t bytes)
{
	const size_t grain = ivl_grain(count), most = bytes > IVL_SCANNED ? bytes : IVL_SCANNED;

	return grain < most ? grain : most;
}

static void scan_all(void *arg)
{
	struct scan *all = arg;
	size_t first = 0;

	if (!all->given)
		all->grain = choose_grain(all->end - all->begin, all->bytes);
	all->parts = (all->end - all->begin - 1) / all->grain + 1;
	/* Outside of a runtime a spawn is a call, which comes too early. */
	if (all->given || ivl_self()) {
		all->sums = calloc(all->parts, all->bytes);
		if (all->bytes > IVL_SUM_ON_STACK)
			all->rooms = calloc(all->parts, all->bytes);
		all->state = calloc(all->parts, sizeof(*all->state));
	}
	if (all->sums && all->state && (all->rooms || all->bytes <= IVL_SUM_ON_STACK)) {
		ivl_parallel_for(0, all->parts, 1, first_pass, all);
		while (first < all->parts && all->state[first].scanned)
			first++;
		ivl_parallel_for(first, all->parts, 1, second_pass, all);
		memcpy(all->nothing, all->sums + (all->parts - 1) * all->bytes, all->bytes);
	} else {
		all->scan(all->begin, all->end, all->nothing, all->arg);
	}
	free(all->sums);
	free(all->rooms);
	free(all->state);
}

void ivl_parallel_scan_parts(size_t begin, size_t end, size_t grain, void *sum, size_t bytes,
			     ivl_part *part, ivl_part *scan, ivl_combine *combine, void *arg)
{
	struct scan all = { .begin = begin, .end = end, .grain = grain, .bytes = bytes,
			    .given = grain, .nothing = sum, .part = part, .scan = scan,
			    .combine = combine, .arg = arg };

	if (begin < end && !ivl_run_parts_outside(end - begin, grain, scan_all, &all))
		scan_all(&all);
}

/* A sum of an array has one byte more: nonzero if there is a sum. */
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
	/* Consecutive sums are aligned as malloc() would. */
	const size_t size = (bytes / _Alignof(max_align_t) + 1) * _Alignof(max_align_t);
	void *large = size > IVL_SUM_ON_STACK ? calloc(1, size) : NULL;
	/* Also if there is no memory. */
	_Alignas(max_align_t) char small[large ? 1 : size];
	char *const sum = large ? large : small;

	if (!bytes)
		return;
	memset(sum, 0, size);
	ivl_parallel_scan_parts(0, count, grain, sum, size, sum_elements, scan_elements,
				combine_sums, &all);
	free(large);
}
