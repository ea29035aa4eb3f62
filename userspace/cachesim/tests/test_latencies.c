// SPDX-License-Identifier: GPL-2.0
/* Percentiles and means that can be told beforehand. */
#include "test_machine.h"

#include "latencies.h"

TEST(of_one_all_are_the_same)
{
	struct latencies l = { 0 };

	assert_int_equal(latencies_add(&l, 7), 0);
	latencies_sort(&l);
	assert_int_equal(latencies_percentile(&l, 1), 7);
	assert_int_equal(latencies_percentile(&l, 500), 7);
	assert_int_equal(latencies_percentile(&l, 1000), 7);
	assert_int_equal(latencies_mean(&l), 7);
	latencies_free(&l);
	assert_int_equal(l.n, 0);
	assert_null(l.ns);
}

/* 1 to 2000, in another order. */
TEST(percentiles_are_exact)
{
	struct latencies l = { 0 };

	for (uint64_t i = 0; i < 2000; i++)
		assert_int_equal(latencies_add(&l, i * 37 % 2000 + 1), 0);
	latencies_sort(&l);
	assert_int_equal(latencies_percentile(&l, 1), 2);
	assert_int_equal(latencies_percentile(&l, 500), 1000);
	assert_int_equal(latencies_percentile(&l, 900), 1800);
	assert_int_equal(latencies_percentile(&l, 990), 1980);
	assert_int_equal(latencies_percentile(&l, 999), 1998);
	assert_int_equal(latencies_percentile(&l, 1000), 2000);
	assert_int_equal(latencies_mean(&l), 1001);	/* 1000.5 */
	latencies_free(&l);
}

/* No share of the few below it is left out. */
TEST(of_a_few_the_next_one_is_taken)
{
	struct latencies l = { 0 };

	for (uint64_t i = 1; i <= 3; i++)
		assert_int_equal(latencies_add(&l, 10 * i), 0);
	latencies_sort(&l);
	assert_int_equal(latencies_percentile(&l, 333), 10);
	assert_int_equal(latencies_percentile(&l, 334), 20);
	assert_int_equal(latencies_percentile(&l, 666), 20);
	assert_int_equal(latencies_percentile(&l, 667), 30);
	latencies_free(&l);
}

TEST(long_ones_are_sorted_as_well)
{
	struct latencies l = { 0 };

	assert_int_equal(latencies_add(&l, 1ull << 40), 0);
	assert_int_equal(latencies_add(&l, 1), 0);
	latencies_sort(&l);
	assert_int_equal(l.ns[0], 1);
	assert_int_equal(l.ns[1], 1ull << 40);
	latencies_free(&l);
}

TEST(there_may_be_none)
{
	struct latencies l = { 0 };

	latencies_sort(&l);
	latencies_free(&l);
	assert_int_equal(l.n, 0);
}

TEST(no_time_is_below_nothing)
{
	assert_int_equal(latency_between(10, 15), 5);
	assert_int_equal(latency_between(15, 10), 0);
}

RUN_TESTS(NULL, NULL)
