// SPDX-License-Identifier: LGPL-2.1-or-later
/* Memory for a square: none if its size overflows. */

#include "../../tests/test.h"

#include "theses/square.h"

TEST(all_of_it_is_there)
{
	double *square = square_alloc(5, sizeof(*square));

	assert_non_null(square);
	memset(square, 0, 5 * 5 * sizeof(*square));
	free(square);
}

/* Of their bytes 64 bits hold 290948384, none, none and 4. */
TEST(more_than_can_be_told_is_none)
{
	assert_null(square_alloc(1518500250, sizeof(double)));
	assert_null(square_alloc((size_t)1 << 31, sizeof(double)));
	assert_null(square_alloc((size_t)1 << 31, sizeof(float)));
	assert_null(square_alloc(((size_t)1 << 63) + 1, 4));
}

TEST_MAIN(NULL, NULL)
