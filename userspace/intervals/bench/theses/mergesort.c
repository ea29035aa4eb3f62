// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Merge Sort of the thesis on intervals (section 5.3.2): sorters fill and sort 64 values each,
 * mergers merge what two before them made. The parts are known before they run, and ordered by
 * edges.
 */
#include "kernels/kernels.h"
#include "theses.h"

#define LEAF 64

struct bench_mergesort bench_mergesort;

static size_t n;
/* Parts of an even level are in the first, of an odd one in the second. */
static int32_t *values[2];

static int32_t value(size_t i)
{
	return (int32_t)((i + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

void mergesort_task(void *arg)
{
	const struct bench_mergesort_part *part = arg;
	int32_t *to = values[part->level % 2] + part->begin;
	const int32_t *from = values[!(part->level % 2)] + part->begin;

	if (part->half) {
		sort_merge(to, from, part->half, from + part->half, part->half);
		return;
	}
	for (size_t i = 0; i < LEAF; i++)
		to[i] = value(part->begin + i);
	sort_leaf(to, LEAF);
}

static void make_sorters(unsigned int count, enum bench_locality locality)
{
	for (unsigned int i = 0; i < count; i++) {
		unsigned int place = i < count / 2 ? 0 : 1;

		bench_mergesort.parts[i] = (struct bench_mergesort_part){
			.begin = (size_t)i * LEAF,
			.place = locality == LOCALITY_IGNORANT ? LOCALITY_NONE : place,
		};
	}
}

/* The place of the left part, or the other place. */
static unsigned int merger_place(const struct bench_mergesort_part *left,
				 enum bench_locality locality)
{
	return locality == LOCALITY_WORST ? !left->place : left->place;
}

/* Parts `left` and `left + 1` become part `to`, and so on. */
static void make_mergers(enum bench_locality locality)
{
	struct bench_mergesort_part *parts = bench_mergesort.parts;
	unsigned int to = (bench_mergesort.count + 1) / 2;

	for (unsigned int left = 0; to < bench_mergesort.count; left += 2, to++) {
		size_t length = parts[left].half ? 2 * parts[left].half : LEAF;

		parts[to] = (struct bench_mergesort_part){
			.begin = parts[left].begin, .half = length, .level = parts[left].level + 1,
			.place = merger_place(&parts[left], locality),
			.left = left, .right = left + 1,
		};
	}
}

static bool allocate(void)
{
	for (unsigned int i = 0; i < 2; i++)
		values[i] = malloc(n * sizeof(**values));
	bench_mergesort.parts = calloc(bench_mergesort.count, sizeof(*bench_mergesort.parts));
	return values[0] && values[1] && bench_mergesort.parts;
}

/* A power of two of sorters, so that every merger has two halves. */
static int prepare(unsigned int size, enum bench_locality locality)
{
	unsigned int sorters = size / LEAF;

	if (size % LEAF || !sorters || sorters & (sorters - 1))
		return EINVAL;
	bench_mergesort.count = 2 * sorters - 1;
	if (n != size) {
		n = size;
		if (!allocate())
			return ENOMEM;
	}
	for (unsigned int i = 0; i < 2; i++)
		memset(values[i], 0, n * sizeof(**values));
	make_sorters(sorters, locality);
	make_mergers(locality);
	return 0;
}

static bool check(void)
{
	unsigned int level = bench_mergesort.parts[bench_mergesort.count - 1].level;
	uint64_t digest = 0;

	/* A sum does not depend on the order. */
	for (size_t i = 0; i < n; i++) {
		int32_t one = value(i);

		digest += sort_digest(&one, 1);
	}
	return sort_right(values[level % 2], n, digest);
}

#define SIZES .size = 4194304, .quick_size = 4096, .warmups = 1, .check = check
KERNEL_AT(mergesort, best, LOCALITY_BEST, prepare, SIZES);
KERNEL_AT(mergesort, ignorant, LOCALITY_IGNORANT, prepare, SIZES);
KERNEL_AT(mergesort, worst, LOCALITY_WORST, prepare, SIZES);
