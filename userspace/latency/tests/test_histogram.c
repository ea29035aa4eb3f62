// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "unit.h"
#include "histogram.h"

static struct histogram h;

SET_UP
{
	memset(&h, 0, sizeof(h));
	return 0;
}

/* Of every bucket: its end is in it, what is one more is in the next. */
TEST(buckets_have_no_gaps)
{
	assert_int_equal(histogram_bucket(0), 0);
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS - 1; i++) {
		assert_int_equal(histogram_bucket(histogram_end(i)), i);
		assert_int_equal(histogram_bucket(histogram_end(i) + 1), i + 1);
	}
	assert_int_equal(histogram_bucket(UINT64_MAX), HISTOGRAM_BUCKETS - 1);
	assert_int_equal(histogram_end(HISTOGRAM_BUCKETS - 1), UINT64_MAX);
}

TEST(buckets_are_narrow)
{
	for (unsigned int i = 1; i < HISTOGRAM_BUCKETS; i++) {
		uint64_t least = histogram_end(i - 1) + 1;

		assert_true(histogram_end(i) - least <= least / 32);
	}
}

SET_UP_TEST(percentiles)
{
	for (uint64_t ns = 1; ns <= 50; ns++)
		histogram_add(&h, ns);
	assert_int_equal(histogram_events(&h), 50);
	assert_int_equal(histogram_percentile(&h, 500), 25);
	assert_int_equal(histogram_percentile(&h, 900), 45);
	assert_int_equal(histogram_percentile(&h, 1000), 50);
}

SET_UP_TEST(one_event)
{
	histogram_add(&h, 1000000);
	assert_int_equal(histogram_percentile(&h, 500), histogram_percentile(&h, 1000));
	assert_in_range(histogram_percentile(&h, 500), 1000000, 1031250);
}

RUN_TESTS(NULL, NULL)
