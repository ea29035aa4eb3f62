/* SPDX-License-Identifier: GPL-2.0 */
#ifndef CHOLESKY_DENSE_H
#define CHOLESKY_DENSE_H

#include "symbolic.h"

/*
 * Writes the matrix and then its factor L into a file (common/dump.h), both as dense
 * n x n matrices by rows, with rows and columns in the order of elimination.
 */
void dense_dump(const char *name, const struct matrix *a, const struct factor *f);

#endif
