// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reduce, scan, sort: prices of a day. algorithms [N]: the longest rise of N prices, the sum up to
 * noon, and the middle one.
 */
#include <stdio.h>
#include <stdlib.h>

#include <intervals_algorithms.h>

/* A walk that goes up for `tail`, went up for `head` at its beginning, `best` somewhere. */
struct rise {
	size_t count, head, tail, best;
	long first, last;
};

static void rise_of_part(size_t begin, size_t end, void *sum, void *arg)
{
	const long *prices = arg;
	struct rise *rise = sum;
	size_t run = 1;

	*rise = (struct rise){ end - begin, 1, 1, 1, prices[begin], prices[end - 1] };
	for (size_t i = begin + 1; i < end; i++) {
		run = prices[i] > prices[i - 1] ? run + 1 : 1;
		if (run == i - begin + 1)
			rise->head = run;
		if (run > rise->best)
			rise->best = run;
	}
	rise->tail = run;
}

/* In their order: the one on the right goes on where the one on the left has ended. */
static void join_rises(void *sum, const void *more, void *arg)
{
	struct rise *left = sum;
	const struct rise *right = more;
	const size_t both = right->first > left->last ? left->tail + right->head : 0;

	(void)arg;
	if (both > left->best)
		left->best = both;
	if (right->best > left->best)
		left->best = right->best;
	if (both && left->head == left->count)
		left->head = both;
	left->tail = both && right->tail == right->count ? both : right->tail;
	left->count += right->count;
	left->last = right->last;
}

static void add(void *sum, const void *more, void *arg)
{
	(void)arg;
	*(long *)sum += *(const long *)more;
}

static int compare(const void *one, const void *other, void *arg)
{
	const long a = *(const long *)one, b = *(const long *)other;

	(void)arg;
	return (a > b) - (a < b);
}

struct day {
	size_t count;
	long *prices, *sums;
	struct rise rise;
};

static int run(ivl_interval *self, void *arg)
{
	struct day *day = arg;

	(void)self;
	ivl_parallel_reduce(0, day->count, 0, &day->rise, sizeof(day->rise), rise_of_part,
			    join_rises, day->prices);
	ivl_parallel_scan(day->sums, day->prices, day->count, sizeof(long), 0, add, NULL);
	ivl_parallel_sort(day->prices, day->count, sizeof(long), compare, NULL);
	return 0;
}

int main(int argc, char **argv)
{
	struct day day = { .count = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000 };
	ivl_runtime *runtime;
	long sum = 0;
	size_t alone = 1, best = 1;

	if (!day.count)
		return 1;
	day.prices = calloc(day.count, sizeof(long));
	day.sums = calloc(day.count, sizeof(long));
	if (!day.prices || !day.sums || ivl_start(NULL, &runtime))
		return 1;
	for (size_t i = 0; i < day.count; i++) {
		day.prices[i] = (long)((i * 13 + i * i / 7) % 1000);
		alone = i && day.prices[i] > day.prices[i - 1] ? alone + 1 : 1;
		best = alone > best ? alone : best;
		if (i <= day.count / 2)
			sum += day.prices[i];
	}
	ivl_run(runtime, run, &day);
	ivl_stop(runtime);
	printf("longest rise %zu, sum up to noon %ld, middle price %ld\n", day.rise.best,
	       day.sums[day.count / 2], day.prices[day.count / 2]);
	best -= day.rise.best;
	sum -= day.sums[day.count / 2];
	free(day.prices);
	free(day.sums);
	return best || sum;
}
