// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which thread has which of the ray tracer's rows? */

#define BENCH_RUNTIME "openmp"
/* The rows are only noted. */
#define raytracer_rows note_rows

#include "runtimes/openmp.c"

#include "../../tests/test.h"

#define ROWS 11

static int thread_of[ROWS];
static unsigned int times[ROWS];

void note_rows(size_t begin, size_t end)
{
	for (size_t row = begin; row < end; row++) {
		thread_of[row] = omp_get_thread_num();
		times[row]++;
	}
}

TEST(rows_are_dealt_out)
{
	bench_raytracer.n = ROWS;
	for (int workers = 1; workers <= 4; workers++) {
		memset(times, 0, sizeof(times));
		assert_int_equal(start((unsigned int)workers), 0);
		enter(raytracer_run);
		for (int row = 0; row < ROWS; row++) {
			assert_int_equal(times[row], 1);
			assert_int_equal(thread_of[row], row % workers);
		}
	}
}

TEST_MAIN(NULL, NULL)
