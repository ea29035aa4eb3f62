// SPDX-License-Identifier: LGPL-2.1-or-later
/* In what order does a thread take tasks? */

/* The ray tracer's rows are only noted. */
#define raytracer_rows note_rows

#include "runtimes/pthreads.c"

#include "../../tests/test.h"

TEST(own_place_first_and_last_in_first_out)
{
	struct item elsewhere, first, modulo, last;

	places = 2;
	here = 1;
	push(&first, 1);
	push(&modulo, 3);
	push(&last, PAR_ANYWHERE);
	push(&elsewhere, 0);
	assert_ptr_equal(pop(), &last);
	assert_ptr_equal(pop(), &modulo);
	assert_ptr_equal(pop(), &first);
	assert_ptr_equal(pop(), &elsewhere);
	assert_null(pop());
}

TEST(threads_are_spread_over_nodes)
{
	static const unsigned int expected[4] = { 0, 0, 1, 1 };

	setenv("HWLOC_SYNTHETIC", "numa:2 pu:2", 1);
	workers = 4;
	assert_int_equal(find_places(), 0);
	assert_int_equal(places, 2);
	for (unsigned int i = 0; i < workers; i++) {
		bind_to_place(i);
		assert_int_equal(here, expected[i]);
	}
	hwloc_topology_destroy(topology);
}

TEST(no_place_is_without_a_thread)
{
	setenv("HWLOC_SYNTHETIC", "numa:4 pu:1", 1);
	workers = 3;
	assert_int_equal(find_places(), 0);
	assert_int_equal(places, 3);
	hwloc_topology_destroy(topology);
}

#define ROWS 11

static size_t noted[ROWS], notes;

void note_rows(size_t begin, size_t end)
{
	for (size_t row = begin; row < end; row++) {
		assert_true(notes < ROWS);
		noted[notes++] = row;
	}
}

/* Without threads the caller runs the rows of all three in turn. */
TEST(rows_are_dealt_out)
{
	static const size_t expected[ROWS] = { 0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8 };

	places = 1;
	here = 0;
	workers = 3;
	bench_raytracer.n = ROWS;
	raytracer_run();
	assert_int_equal(notes, ROWS);
	assert_memory_equal(noted, expected, sizeof(expected));
}

TEST_MAIN(NULL, NULL)
