// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reduce, scan and sort, compared with one thread's results. */
#include "test_runtimes.h"

#include "intervals_algorithms.h"
#include "test_allocation.h"

static const size_t sizes[] = { 0, 1, 2, 3, 100, 2049, 20000 };
static const size_t grains[] = { 0, 1, 7, 100000 };

/* x -> a x + b: composing them is associative, and not commutative. */
struct affine {
	uint32_t a, b;
};

static void compose(void *sum, const void *more, void *arg)
{
	struct affine *f = sum;
	const struct affine *g = more;

	*f = (struct affine){ f->a * g->a, f->b * g->a + g->b };
}

static void compose_part(size_t begin, size_t end, void *sum, void *arg)
{
	for (; begin < end; begin++)
		compose(sum, (struct affine *)arg + begin, NULL);
}

/* A scan by parts: how often each number was only added, and how often scanned. */
struct parts {
	const struct affine *in;
	struct affine *out;
	struct {
		unsigned int added, put;
	} *counts;
	/* How many later parts are added before the first is written. */
	unsigned int beside;
	_Atomic unsigned int added;
};

static void add_numbers(size_t begin, size_t end, void *sum, void *arg)
{
	struct parts *parts = arg;

	for (; begin < end; begin++) {
		compose(sum, &parts->in[begin], NULL);
		parts->counts[begin].added++;
	}
	parts->added++;
}

static void put_sums(size_t begin, size_t end, void *sum, void *arg)
{
	struct parts *parts = arg;

	while (!begin && parts->added < parts->beside)
		sched_yield();
	for (; begin < end; begin++) {
		compose(sum, &parts->in[begin], NULL);
		parts->out[begin] = *(struct affine *)sum;
		parts->counts[begin].put++;
	}
}

static struct affine *make_numbers(size_t count)
{
	struct affine *numbers = malloc((count + 1) * sizeof(*numbers));
	uint32_t seed = 1;

	assert_non_null(numbers);
	for (size_t i = 0; i < count; i++) {
		seed = seed * 1664525 + 1013904223;
		numbers[i] = (struct affine){ 2 * (seed >> 8) + 1, seed >> 3 };
	}
	return numbers;
}

/* With one worker. */
static bool alone = true;
/* In the default runtime, whose workers may take part or not. */
static bool perhaps;

/* Numbers are added first and scanned later only with several workers or a given grain. */
static void check_parts(const struct affine *numbers, const struct affine *expected, size_t count,
			size_t grain)
{
	struct affine sum = { 1, 0 };
	/* The last part is never only added; the worker that stops waiting adds the second. */
	struct parts parts = { numbers, make_numbers(count),
			       .beside = alone ? 0 :
					 (grain ? count > 3 * grain : count > 100) ? 2 :
					 grain && count > 2 * grain };
	const int left = test_allocations_left;

	parts.counts = malloc((count + 1) * sizeof(*parts.counts));
	assert_non_null(parts.counts);
	memset(parts.counts, 0, count * sizeof(*parts.counts));
	/* Memory for the sums, and none for tasks. */
	test_allocations_left = left < 0 ? left : 2;
	ivl_parallel_scan_parts(0, count, grain, &sum, sizeof(sum), add_numbers, put_sums, compose,
				&parts);
	test_allocations_left = left;
	if (count)
		assert_memory_equal(&sum, &expected[count - 1], sizeof(sum));
	assert_int_equal(memcmp(parts.out, expected, count * sizeof(*expected)), 0);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(parts.counts[i].put, 1);
		assert_in_range(parts.counts[i].added, 0, !alone || perhaps || grain);
	}
	free(parts.out);
	free(parts.counts);
}

#define GRAIN 7

struct rounding {
	float numbers[1000], sums[1000];
	/* The first part waits for another one. */
	_Atomic bool beside;
};

static void add_float(void *sum, const void *more, void *arg)
{
	struct rounding *rounding = arg;
	const float *number = more;

	if (number >= rounding->numbers + GRAIN && number < rounding->numbers + 1000)
		rounding->beside = true;
	while (number == rounding->numbers + 1 && !rounding->beside)
		sched_yield();
	*(float *)sum += *number;
}

/* Rounded differently in any other order. */
static void check_rounding(void)
{
	static float first[1000];
	struct rounding rounding = { .beside = alone };

	for (int i = 0; i < 1000; i++)
		rounding.numbers[i] = 1.0f / (float)(i + 1);
	ivl_parallel_scan(rounding.sums, rounding.numbers, 1000, sizeof(float), GRAIN, add_float,
			  &rounding);
	if (first[0] != 0)
		assert_memory_equal(rounding.sums, first, sizeof(first));
	memcpy(first, rounding.sums, sizeof(first));
}

static void check_sums(size_t count)
{
	struct affine *numbers = make_numbers(count), *expected = make_numbers(count),
		      *found = make_numbers(count), sum;

	for (size_t i = 1; i < count; i++) {
		expected[i] = expected[i - 1];
		compose(&expected[i], &numbers[i], NULL);
	}
	for (size_t i = 0; i < sizeof(grains) / sizeof(*grains); i++) {
		sum = (struct affine){ 1, 0 };
		ivl_parallel_reduce(0, count, grains[i], &sum, sizeof(sum), compose_part, compose,
				    numbers);
		if (count)
			assert_memory_equal(&sum, &expected[count - 1], sizeof(sum));
		else
			assert_int_equal(sum.a, 1);
		ivl_parallel_scan(found, numbers, count, sizeof(*found), grains[i], compose, NULL);
		assert_int_equal(memcmp(found, expected, count * sizeof(*found)), 0);
		check_parts(numbers, expected, count, grains[i]);
	}
	ivl_parallel_scan(numbers, numbers, count, sizeof(*numbers), 0, compose, NULL);
	assert_int_equal(memcmp(numbers, expected, count * sizeof(*numbers)), 0);
	free(numbers);
	free(expected);
	free(found);
}

/* A sum too large for a stack: the number stands at both ends. */
#define LARGE_COUNT 500
#define LARGE_GRAIN 20
#define LARGE_ELEMENTS 20

struct large {
	size_t bytes;
	const struct affine *numbers;
	struct affine *out;
};

static struct affine *at_end(const struct large *large, void *sum)
{
	return (struct affine *)((char *)sum + large->bytes) - 1;
}

static void put_large(const struct large *large, void *sum, struct affine number)
{
	*(struct affine *)sum = *at_end(large, sum) = number;
}

static void compose_large(void *sum, const void *more, void *arg)
{
	assert_memory_equal(sum, at_end(arg, sum), sizeof(struct affine));
	assert_memory_equal(more, at_end(arg, (void *)more), sizeof(struct affine));
	compose(sum, more, NULL);
	compose(at_end(arg, sum), more, NULL);
}

static void scan_large(size_t begin, size_t end, void *sum, void *arg)
{
	const struct large *large = arg;

	assert_in_range(end - begin, 1, LARGE_COUNT);
	for (; begin < end; begin++) {
		compose(sum, &large->numbers[begin], NULL);
		compose(at_end(large, sum), &large->numbers[begin], NULL);
		large->out[begin] = *(struct affine *)sum;
	}
}

static void add_large(size_t begin, size_t end, void *sum, void *arg)
{
	const struct large *large = arg;

	for (; begin < end; begin++) {
		compose(sum, &large->numbers[begin], NULL);
		compose(at_end(large, sum), &large->numbers[begin], NULL);
	}
}

/* Memory for the sums, and none for the tasks. */
static bool no_memory;

static void forget_memory(bool now)
{
	test_allocations_left = no_memory && now ? 0 : -1;
}

static void check_large_elements(const struct large *large, const struct affine *expected)
{
	char *elements = calloc(LARGE_ELEMENTS, large->bytes);

	assert_non_null(elements);
	for (size_t i = 0; i < LARGE_ELEMENTS; i++)
		put_large(large, elements + i * large->bytes, large->numbers[i]);
	forget_memory(true);
	ivl_parallel_scan(elements, elements, LARGE_ELEMENTS, large->bytes, 1, compose_large,
			  (void *)large);
	forget_memory(false);
	for (size_t i = 0; i < LARGE_ELEMENTS; i++)
		assert_memory_equal(elements + i * large->bytes, &expected[i], sizeof(*expected));
	free(elements);
}

static void check_large(size_t bytes)
{
	static const size_t given[] = { 0, LARGE_GRAIN };
	struct affine *numbers = make_numbers(LARGE_COUNT), *expected = make_numbers(LARGE_COUNT);
	struct large large = { bytes, numbers, make_numbers(LARGE_COUNT) };
	void *sum = malloc(bytes);

	assert_non_null(sum);
	for (size_t i = 1; i < LARGE_COUNT; i++) {
		expected[i] = expected[i - 1];
		compose(&expected[i], &numbers[i], NULL);
	}
	for (size_t i = 0; i < 2; i++) {
		put_large(&large, sum, (struct affine){ 1, 0 });
		forget_memory(true);
		ivl_parallel_reduce(0, LARGE_COUNT, given[i], sum, bytes, add_large, compose_large,
				    &large);
		forget_memory(false);
		assert_memory_equal(sum, &expected[LARGE_COUNT - 1], sizeof(*expected));

		put_large(&large, sum, (struct affine){ 1, 0 });
		forget_memory(true);
		ivl_parallel_scan_parts(0, LARGE_COUNT, given[i], sum, bytes, add_large, scan_large,
					compose_large, &large);
		forget_memory(false);
		assert_memory_equal(sum, &expected[LARGE_COUNT - 1], sizeof(*expected));
		assert_memory_equal(large.out, expected, LARGE_COUNT * sizeof(*expected));
	}
	check_large_elements(&large, expected);
	free(large.out);
	free(numbers);
	free(expected);
	free(sum);
}

OK_BODY(large_body, void *arg)
{
	check_large(1 << 10);
	check_large(64 << 10);
	/* As large as a stack. */
	if (!no_memory && !TEST_SLOW)
		check_large(1 << 20);
}

TEST(large)
{
	for (int without = 0; without < 2; without++) {
		no_memory = without;
		test_on_counts(workers) {
			TEST_WORKERS(runtime, workers);

			test_run(runtime, large_body, NULL);
		}
		large_body(NULL, NULL);
	}
}

/* Of three bytes, so that nothing is aligned. */
struct small {
	unsigned char high, low, origin;
};

static int by_number(const void *one, const void *other, void *calls)
{
	const struct small *a = one, *b = other;

	if (calls)
		__atomic_fetch_add((long *)calls, 1, __ATOMIC_RELAXED);
	return a->high != b->high ? a->high - b->high : a->low - b->low;
}

static void check_sort(size_t count)
{
	struct small *array = malloc(count * sizeof(*array) + 1);
	size_t origins[256] = { 0 };
	long calls = 0;

	/* Random, few different, sorted, backwards. */
	for (int kind = 0; kind < 4; kind++) {
		uint32_t seed = 1;

		for (size_t i = 0; i < count; i++) {
			const size_t number = kind == 0 ? (seed = seed * 1664525 + 1013904223) >> 9 :
					      kind == 1 ? i % 3 : kind == 2 ? i : count - i;

			array[i] = (struct small){ (unsigned char)(number >> 8),
						   (unsigned char)number, (unsigned char)i };
			origins[array[i].origin]++;
		}
		ivl_parallel_sort(array, count, sizeof(*array), by_number, &calls);
		for (size_t i = 0; i < count; i++) {
			assert_true(!i || by_number(&array[i - 1], &array[i], NULL) <= 0);
			origins[array[i].origin]--;
		}
		for (size_t i = 0; i < 256; i++)
			assert_int_equal(origins[i], 0);
	}
	free(array);
}

static void check_all(void)
{
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		check_sums(sizes[i]);
		check_sort(sizes[i]);
	}
}

OK_BODY(body, void *arg)
{
	check_all();
	check_rounding();
}

TEST(on_workers)
{
	test_on_counts(workers) {
		TEST_WORKERS(runtime, workers);

		alone = workers == 1;
		test_run(runtime, body, NULL);
	}
	alone = true;
}

/* In the default runtime, whose workers are as many as this thread's CPUs. */
TEST(outside)
{
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus) || CPU_COUNT(&cpus) < 2)
		test_leave_out("one CPU has no second worker");
	alone = false;
	check_all();
	check_rounding();
	alone = true;
}

OK_BODY(without_memory, void *arg)
{
	test_allocations_left = 0;
	check_all();
	test_allocations_left = -1;
}

TEST(without_memory)
{
	struct ivl_config config = test_config(1);

	perhaps = true;
	without_memory(NULL, NULL);
	perhaps = false;
	/* No room for the second task. */
	config.queue_capacity = 1;
	test_run_on(&config, without_memory, NULL);
}

TEST_MAIN(NULL, NULL)
