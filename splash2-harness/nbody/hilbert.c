// SPDX-License-Identifier: GPL-2.0
#include "hilbert.h"

static unsigned int rotate(unsigned int dimensions, unsigned int bits, unsigned int by)
{
	unsigned int mask = (1U << dimensions) - 1;

	by %= dimensions;
	return (bits << by | bits >> (dimensions - by)) & mask;
}

static unsigned int gray(unsigned int i)
{
	return i ^ i >> 1;
}

/* The corner of child `step` at which the curve enters it. */
static unsigned int entry_corner(unsigned int step)
{
	return step ? gray((step - 1) & ~1U) : 0;
}

/* The axis along which it crosses that child. */
static unsigned int crossing(unsigned int dimensions, unsigned int step)
{
	unsigned int odd = step % 2 ? step : step - 1;

	return step ? (unsigned int)__builtin_ctz(~odd) % dimensions : 0;
}

unsigned int hilbert_child(unsigned int dimensions, struct hilbert curve, unsigned int step,
			   struct hilbert *inside)
{
	unsigned int turn = curve.direction + 1;

	inside->entry = curve.entry ^ rotate(dimensions, entry_corner(step), turn);
	inside->direction = (turn + crossing(dimensions, step)) % dimensions;
	return curve.entry ^ rotate(dimensions, gray(step), turn);
}
