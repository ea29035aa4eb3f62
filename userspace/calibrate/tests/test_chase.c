// SPDX-License-Identifier: GPL-2.0
/*
 * The memory that a chase goes through. What it takes is the machine's affair and no test's: where
 * a CPU is shared, chases side by side may well take longer than one.
 */

#include "unit.h"
#include "calibrate.h"

#define LINE 64u

/* From any line, every other comes once before the first comes again. */
TEST(a_chase_goes_through_all_lines)
{
	static const size_t sizes[] = { LINE, 2 * LINE, 48u << 10, 3u << 20 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct chase chase;
		bool *seen;
		void **at;

		chase_open(&chase, sizes[i], LINE);
		assert_int_equal(chase.lines, sizes[i] / LINE);
		seen = calloc(chase.lines, sizeof(*seen));
		assert_non_null(seen);
		at = (void **)chase.base;
		for (size_t n = 0; n < chase.lines; n++) {
			size_t offset = (size_t)((char *)at - chase.base);

			assert_true(offset < chase.size);
			assert_int_equal(offset % LINE, 0);
			assert_false(seen[offset / LINE]);
			seen[offset / LINE] = true;
			at = *at;
		}
		assert_ptr_equal(at, chase.base);
		free(seen);
		chase_close(&chase);
	}
}

/* No stride that a prefetcher could learn: steps of one length are few. */
TEST(a_chase_has_no_stride)
{
	struct chase chase;
	size_t neighbours = 0;
	void **at;

	chase_open(&chase, 1u << 20, LINE);
	at = (void **)chase.base;
	for (size_t n = 0; n < chase.lines; n++) {
		neighbours += (char *)*at - (char *)at == LINE;
		at = *at;
	}
	assert_true(neighbours < chase.lines / 1000);
	chase_close(&chase);
}

/* Else a large cache would hold what the measurement before has visited. */
TEST(a_measurement_goes_on_where_the_last_one_ended)
{
	struct chase chase;

	chase_open(&chase, 64u << 20, LINE);
	assert_true(measure_chases(&chase, 1) > 0);
	/* A second visit of this line crashes. */
	*(void **)(chase.base + chase.order[0] * LINE) = NULL;
	assert_true(measure_chases(&chase, 1) > 0);
	chase_close(&chase);
}

RUN_TESTS(NULL, NULL)
