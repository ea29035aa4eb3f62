// SPDX-License-Identifier: GPL-2.0
/* What the factor is good for; here it shows whether the factor is right. */
#include <math.h>
#include <stdlib.h>

#include "common/splash.h"
#include "solve.h"

/* x := L^-1 x */
static void solve_forward(const struct factor *f, double *x)
{
	for (uint32_t k = 0; k < f->panels; k++) {
		const struct panel *p = &f->panel[k];

		for (uint32_t i = 0; i < p->rows; i++) {
			const double *row = p->value + (size_t)i * p->width;
			uint32_t columns = i < p->width ? i : p->width;
			double *to = &x[p->row[i]];

			for (uint32_t j = 0; j < columns; j++)
				*to -= row[j] * x[p->first + j];
			if (i < p->width)
				*to /= row[i];
		}
	}
}

/* x := L^-T x */
static void solve_backward(const struct factor *f, double *x)
{
	for (uint32_t k = f->panels; k-- > 0;) {
		const struct panel *p = &f->panel[k];

		for (uint32_t i = p->rows; i-- > 0;) {
			const double *row = p->value + (size_t)i * p->width;
			uint32_t columns = i < p->width ? i : p->width;
			double from;

			if (i < p->width)
				x[p->first + i] /= row[i];
			from = x[p->row[i]];
			for (uint32_t j = 0; j < columns; j++)
				x[p->first + j] -= row[j] * from;
		}
	}
}

static double largest(const double *x, uint32_t n)
{
	double most = 0;

	/* Not fmax(), which would overlook what is not a number. */
	for (uint32_t i = 0; i < n; i++)
		if (!(fabs(x[i]) <= most))
			most = fabs(x[i]);
	return most;
}

double solve_residual(const struct matrix *a, const struct factor *f, uint64_t seed)
{
	double *b = splash_alloc(f->n, sizeof(*b)), *x = splash_alloc(f->n, sizeof(*x));
	double *y = splash_alloc(f->n, sizeof(*y)), residual;
	uint64_t state = splash_random_state(seed, 1);

	for (uint32_t i = 0; i < f->n; i++)
		b[i] = splash_random_real(&state) - 0.5;
	for (uint32_t i = 0; i < f->n; i++)
		y[i] = b[f->order[i]];
	solve_forward(f, y);
	solve_backward(f, y);
	for (uint32_t i = 0; i < f->n; i++)
		x[f->order[i]] = y[i];

	matrix_multiply(a, x, y);
	for (uint32_t i = 0; i < f->n; i++)
		y[i] -= b[i];
	residual = largest(y, f->n) / (matrix_norm(a) * largest(x, f->n) + largest(b, f->n));
	free(b);
	free(x);
	free(y);
	return residual;
}

double solve_log_determinant(const struct factor *f)
{
	double sum = 0;

	for (uint32_t k = 0; k < f->panels; k++)
		for (uint32_t i = 0; i < f->panel[k].width; i++)
			sum += 2 * log(f->panel[k].value[(size_t)i * f->panel[k].width + i]);
	return sum;
}
