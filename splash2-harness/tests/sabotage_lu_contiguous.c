// SPDX-License-Identifier: GPL-2.0
#include <math.h>

#include "../lu/lu_contiguous.c"
#include "sabotage.h"

static double *element(size_t i, size_t j)
{
	struct lu_block block = lu_block(i / shape.b, j / shape.b);

	return block.at + i % shape.b * block.stride + j % shape.b;
}

SABOTAGE(upper)
{
	*element(1, shape.n - 1) += 1e-9;
}

SABOTAGE(lower)
{
	*element(shape.n - 1, 0) += 1e-9;
}

/* An interior block that missed its update in one step, as after a race. */
SABOTAGE(lost_update)
{
	size_t row = shape.b, column = 2 * shape.b;

	for (size_t i = row; i < row + shape.b; i++)
		for (size_t j = column; j < column + shape.b; j++)
			for (size_t k = 0; k < shape.b; k++)
				*element(i, j) += *element(i, k) * *element(k, j);
}

SABOTAGE(no_number)
{
	*element(2, 2) = NAN;
}

SABOTAGE(infinite)
{
	*element(2, 3) = INFINITY;
}
