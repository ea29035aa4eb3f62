// SPDX-License-Identifier: LGPL-2.1-or-later
/* Memory for a square: none, rather than what an overflow leaves of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "theses/square.h"

static void all_of_it_is_there(void **state)
{
	double *square = square_alloc(5, sizeof(*square));

	(void)state;
	assert_non_null(square);
	memset(square, 0, 5 * 5 * sizeof(*square));
	free(square);
}

/* Of their bytes 64 bits hold 290948384, none, none and 4. */
static void more_than_can_be_told_is_none(void **state)
{
	(void)state;
	assert_null(square_alloc(1518500250, sizeof(double)));
	assert_null(square_alloc((size_t)1 << 31, sizeof(double)));
	assert_null(square_alloc((size_t)1 << 31, sizeof(float)));
	assert_null(square_alloc(((size_t)1 << 63) + 1, 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it_is_there),
		cmocka_unit_test(more_than_can_be_told_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
