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
static void swapped(void)
{
	swap(stride + 1, stride + 2);
}

/* What the other sign in the exponent yields. */
static void other_sign(void)
{
	for (size_t k = 1; k < side * side / 2; k++) {
		size_t mirrored = side * side - k;

		swap(k / side * stride + k % side, mirrored / side * stride + mirrored % side);
	}
}

/* A frequency that is no worse than by an inaccurate root of unity. */
static void imprecise(void)
{
	output[stride].re += 1e-10 * expected_size();
}

static void no_number(void)
{
	output[0].im = NAN;
}

const struct sabotage sabotages[] = {
	{ "swapped", swapped },
	{ "other_sign", other_sign },
	{ "imprecise", imprecise },
	{ "no_number", no_number },
	{ 0 }
};
