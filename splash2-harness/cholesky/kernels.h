/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The dense operations on blocks, all stored by rows: the rows of a block of width w
 * are w numbers apart.
 */
#ifndef CHOLESKY_KERNELS_H
#define CHOLESKY_KERNELS_H

#include <stdint.h>

/*
 * The lower triangle of a becomes that of L, a = L L^T (BFAC). Returns the column,
 * from 0, whose pivot is not positive; w when all are.
 */
uint32_t kernel_factor(double *a, uint32_t w);

/* b := b L^-T, rows x w, where L is w x w and lower triangular (BDIV). */
void kernel_divide(double *b, uint32_t rows, const double *l, uint32_t w);

/*
 * c := a b^T, rows_a x rows_b, where a and b have width w (BMOD, before it is subtracted
 * where it belongs).
 */
void kernel_multiply(double *c, const double *a, uint32_t rows_a, const double *b,
		     uint32_t rows_b, uint32_t w);

#endif
