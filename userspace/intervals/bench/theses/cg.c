// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * CG of the NAS parallel benchmarks: the inverse power method for the least eigenvalue of a sparse
 * matrix, each step of which solves a system by 25 iterations of conjugate gradients. The matrix is
 * a sum of outer products of random sparse vectors; the eigenvalue is published.
 */
#include "npb.h"
#include "theses.h"

#define CONDITION 0.1
#define MOST 12			/* elements of a random vector */

static const struct class {
	size_t n;
	unsigned int nonzeros;	/* of a random vector, without the one on the diagonal */
	double shift, zeta;
} classes[] = {
	{ 1400, 7, 10, 8.5971775078648 },	/* S */
	{ 7000, 8, 12, 10.362595087124 },	/* W */
	{ 14000, 11, 20, 17.130235054029 },	/* A */
};

static const struct class *class;

/* Row i is the elements row[i] to row[i + 1], one for each column. */
static size_t *row;
static struct element {
	uint32_t column;
	double value;
} *elements;

static double *x, *z, *r, *p, *q;
static double sums[CG_PARTS], norms[CG_PARTS];
static double rho, alpha, beta, scale, zeta;

static size_t first_row(size_t part)
{
	return part * class->n / CG_PARTS;
}

/* One phase of one part's rows. cg_sum() adds the parts' sums afterwards. */
static void work(enum cg_phase phase, size_t part)
{
	double sum = 0, norm = 0;

	for (size_t i = first_row(part); i < first_row(part + 1); i++) {
		switch (phase) {
		case CG_BEGIN:
			z[i] = 0;
			r[i] = p[i] = x[i];
			sum += x[i] * x[i];
			break;
		case CG_MULTIPLY:
			q[i] = 0;
			for (size_t k = row[i]; k < row[i + 1]; k++)
				q[i] += elements[k].value * p[elements[k].column];
			sum += p[i] * q[i];
			break;
		case CG_STEP:
			z[i] += alpha * p[i];
			r[i] -= alpha * q[i];
			sum += r[i] * r[i];
			break;
		case CG_TURN:
			p[i] = r[i] + beta * p[i];
			break;
		case CG_END:
			sum += x[i] * z[i];
			norm += z[i] * z[i];
			break;
		case CG_NORMALIZE:
			x[i] = scale * z[i];
			break;
		}
	}
	sums[part] = sum;
	norms[part] = norm;
}

void cg_parts(enum cg_phase phase, size_t begin, size_t end)
{
	for (size_t part = begin; part < end; part++)
		work(phase, part);
}

void cg_sum(enum cg_phase phase)
{
	double sum = 0, norm = 0;

	for (unsigned int part = 0; part < CG_PARTS; part++) {
		sum += sums[part];
		norm += norms[part];
	}
	switch (phase) {
	case CG_BEGIN:
		rho = sum;
		break;
	case CG_MULTIPLY:
		alpha = rho / sum;
		break;
	case CG_STEP:
		beta = sum / rho;
		rho = sum;
		break;
	case CG_END:
		zeta = class->shift + 1 / sum;
		scale = 1 / sqrt(norm);
		break;
	default:
		break;
	}
}

/* The sparse vectors, and how large their products are. */
struct vectors {
	double size;
	unsigned int count;
	struct element of[MOST];
};

static struct element *find(struct vectors *vector, uint32_t column)
{
	for (unsigned int i = 0; i < vector->count; i++)
		if (vector->of[i].column == column)
			return &vector->of[i];
	return NULL;
}

/* Elements at random places, and 1/2 at its own. */
static void make_vector(struct vectors *vector, uint32_t index, uint64_t *state)
{
	size_t power = 1;
	struct element *own;

	while (power < class->n)
		power *= 2;
	while (vector->count < class->nonzeros) {
		double value = npb_random(state);
		uint32_t column = (uint32_t)((double)power * npb_random(state));

		if (column < class->n && !find(vector, column))
			vector->of[vector->count++] = (struct element){ column, value };
	}
	own = find(vector, index);
	if (!own)
		own = &vector->of[vector->count++];
	*own = (struct element){ index, 0.5 };
}

static void make_vectors(struct vectors *vectors)
{
	uint64_t state = NPB_SEED;
	double size = 1;

	/* The benchmark draws one that it does not use. */
	npb_random(&state);
	for (uint32_t i = 0; i < class->n; i++) {
		vectors[i].size = size;
		make_vector(&vectors[i], i, &state);
		size *= pow(CONDITION, 1 / (double)class->n);
	}
}

static int by_column(const void *a, const void *b)
{
	const struct element *one = a, *other = b;

	return (one->column > other->column) - (one->column < other->column);
}

/* Adds elements of the same column; returns the number of elements left. */
static size_t merge(struct element *of, size_t count, struct element *to)
{
	size_t left = 0;

	qsort(of, count, sizeof(*of), by_column);
	for (size_t k = 0; k < count; k++) {
		if (k && of[k].column == of[k - 1].column)
			to[left - 1].value += of[k].value;
		else
			to[left++] = of[k];
	}
	return left;
}

/* The products of vector i with itself; the shift is on the diagonal. Ends of rows move on. */
static void add_products(const struct vectors *vector, uint32_t i, size_t *ends)
{
	for (unsigned int a = 0; a < vector->count; a++) {
		uint32_t at = vector->of[a].column;

		for (unsigned int b = 0; b < vector->count; b++) {
			double value = vector->size * vector->of[a].value * vector->of[b].value;

			if (a == b && at == i)
				value += CONDITION - class->shift;
			elements[ends[at]++] = (struct element){ vector->of[b].column, value };
		}
	}
}

static bool make_matrix(struct vectors *vectors, size_t *ends)
{
	size_t n = class->n, total = 0, left = 0;

	make_vectors(vectors);
	for (size_t i = 0; i < n; i++)
		for (unsigned int k = 0; k < vectors[i].count; k++)
			row[vectors[i].of[k].column + 1] += vectors[i].count;
	for (size_t i = 0; i < n; i++) {
		ends[i] = total;
		total += row[i + 1];
		row[i + 1] = total;
	}
	elements = malloc(total * sizeof(*elements));
	if (!elements)
		return false;
	for (uint32_t i = 0; i < n; i++)
		add_products(&vectors[i], i, ends);
	for (size_t i = 0; i < n; i++) {
		size_t begin = row[i];

		row[i] = left;
		left += merge(elements + begin, ends[i] - begin, elements + left);
	}
	row[n] = left;
	return true;
}

static bool allocate(void)
{
	size_t n = class->n;
	struct vectors *vectors = calloc(n, sizeof(*vectors));
	size_t *ends = calloc(n, sizeof(*ends));
	bool made;

	row = calloc(n + 1, sizeof(*row));
	x = malloc(5 * n * sizeof(*x));
	made = vectors && ends && row && x && make_matrix(vectors, ends);
	free(vectors);
	free(ends);
	if (!made)
		return false;
	z = x + n;
	r = z + n;
	p = r + n;
	q = p + n;
	return true;
}

/* Only sizes with a published value are valid. */
static int prepare(unsigned int size)
{
	const struct class *found = NULL;

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (classes[i].n == size)
			found = &classes[i];
	if (!found)
		return EINVAL;
	if (class != found) {
		class = found;
		if (!allocate())
			return ENOMEM;
	}
	for (size_t i = 0; i < class->n; i++)
		x[i] = 1;
	zeta = 0;
	return 0;
}

static bool check(void)
{
	return fabs(zeta - class->zeta) <= 1e-10 * class->zeta;
}

const struct bench_kernel bench_kernel_cg = {
	.name = "cg", .size = 14000, .quick_size = 1400, .warmups = 0, .repeats = 3,
	.prepare = prepare, .check = check,
};
