// SPDX-License-Identifier: GPL-2.0
/* The matrix and its factor for programs that know dense matrices only. */
#include <stdlib.h>
#include <string.h>

#include "common/dump.h"
#include "common/splash.h"
#include "dense.h"

static void fill_matrix(double *dense, const struct matrix *a, const struct factor *f)
{
	uint32_t *place = splash_alloc(f->n, sizeof(*place));

	for (uint32_t i = 0; i < f->n; i++)
		place[f->order[i]] = i;
	for (uint32_t j = 0; j < a->n; j++) {
		for (uint64_t k = a->start[j]; k < a->start[j + 1]; k++) {
			size_t row = place[a->row[k]], column = place[j];

			dense[row * f->n + column] = a->value[k];
			dense[column * f->n + row] = a->value[k];
		}
	}
	free(place);
}

static void fill_factor(double *dense, const struct factor *f)
{
	for (uint32_t k = 0; k < f->panels; k++) {
		const struct panel *p = &f->panel[k];

		for (uint32_t i = 0; i < p->rows; i++) {
			uint32_t columns = i < p->width ? i + 1 : p->width;

			memcpy(&dense[(size_t)p->row[i] * f->n + p->first],
			       &p->value[(size_t)i * p->width], columns * sizeof(*dense));
		}
	}
}

void dense_dump(const char *name, const struct matrix *a, const struct factor *f)
{
	const size_t size = (size_t)f->n * f->n;
	double *dense = splash_alloc(size, sizeof(*dense));
	FILE *file = dump_open(name);

	memset(dense, 0, size * sizeof(*dense));
	fill_matrix(dense, a, f);
	dump_doubles(file, name, dense, size);
	memset(dense, 0, size * sizeof(*dense));
	fill_factor(dense, f);
	dump_doubles(file, name, dense, size);
	dump_close(file, name);
	free(dense);
}
