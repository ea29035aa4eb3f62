// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reduce, scan and sort beside what one thread does. */
#include "test_runtimes.h"

#include <stdlib.h>
#include <string.h>

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

	(void)arg;
	*f = (struct affine){ f->a * g->a, f->b * g->a + g->b };
}

static void compose_part(size_t begin, size_t end, void *sum, void *arg)
{
	for (; begin < end; begin++)
		compose(sum, (struct affine *)arg + begin, NULL);
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
	}
	ivl_parallel_scan(numbers, numbers, count, sizeof(*numbers), 0, compose, NULL);
	assert_int_equal(memcmp(numbers, expected, count * sizeof(*numbers)), 0);
	free(numbers);
	free(expected);
	free(found);
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

static int body(ivl_interval *self, void *arg)
{
	(void)self, (void)arg;
	check_all();
	return 0;
}

static void test_on_workers(void **state)
{
	static const unsigned int workers[] = { 1, 2, 8 };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct ivl_config config = test_config(workers[i]);
		ivl_runtime *runtime = test_start(&config);

		test_run(runtime, body, NULL);
		ivl_stop(runtime);
	}
}

static void test_outside(void **state)
{
	(void)state;
	check_all();
}

static void test_without_memory(void **state)
{
	(void)state;
	test_allocations_left = 0;
	check_all();
	test_allocations_left = -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_on_workers),
		cmocka_unit_test(test_outside),
		cmocka_unit_test(test_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
