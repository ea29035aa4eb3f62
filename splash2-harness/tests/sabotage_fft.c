// SPDX-License-Identifier: GPL-2.0
#include "../fft.c"
#include "sabotage.h"

static void swap(size_t i, size_t j)
{
	struct point saved = output[i];

	output[i] = output[j];
	output[j] = saved;
}

/* A transpose that took two columns for each other, in one row. */
SABOTAGE(swapped)
{
	swap(stride + 1, stride + 2);
}

/* What the other sign in the exponent yields. */
SABOTAGE(other_sign)
{
	for (size_t k = 1; k < side * side / 2; k++) {
		size_t mirrored = side * side - k;

		swap(k / side * stride + k % side, mirrored / side * stride + mirrored % side);
	}
}

/* A frequency that is no worse than by an inaccurate root of unity. */
SABOTAGE(imprecise)
{
	output[stride].re += 1e-10 * expected_size();
}

SABOTAGE(no_number)
{
	output[0].im = NAN;
}
