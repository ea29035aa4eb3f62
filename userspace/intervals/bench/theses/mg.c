// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * MG of the NAS parallel benchmarks: four V-cycles of a multigrid method for the Poisson equation
 * on a cube that repeats itself. On its right side are ten charges of each sign, where the random
 * numbers are largest and least. The norm of what remains is published.
 *
 * Of the benchmark's indices 1 to n, n is 0 here, so that neighbours are found modulo n.
 */
#include "npb.h"
#include "theses.h"

#define LEVELS 9		/* at most: n is 2^level; level 0 is not used */
#define CHARGES 10

struct bench_mg bench_mg;

/* By how many coordinates a neighbour differs: not at all, by one, two or three. */
static const double poisson[4] = { -8.0 / 3, 0, 1.0 / 6, 1.0 / 12 };
static const double smoother[4] = { -3.0 / 8, 1.0 / 32, -1.0 / 64, 0 };
static const double average[4] = { 1.0 / 2, 1.0 / 4, 1.0 / 8, 1.0 / 16 };

static double *solution[LEVELS], *residual[LEVELS];
static double *charges;

static size_t points(unsigned int level)
{
	return (size_t)1 << level;
}

static double *line(double *grid, unsigned int level, size_t z, size_t y)
{
	size_t n = points(level);

	return grid + ((z & (n - 1)) * n + (y & (n - 1))) * n;
}

/* Sum of the points of four lines, with one more at each end. */
static void add_lines(double *const lines[4], size_t n, double *to)
{
	for (size_t x = 0; x < n; x++)
		to[x + 1] = lines[0][x] + lines[1][x] + lines[2][x] + lines[3][x];
	to[0] = to[n];
	to[n + 1] = to[1];
}

/* The weighted sums of the 27 points around each point of a line. */
static void stencil(double *grid, unsigned int level, size_t z, size_t y, const double weights[4],
		    double *to)
{
	size_t n = points(level);
	double near[n + 2], far[n + 2];
	const double *own = line(grid, level, z, y);
	double *const beside[4] = {
		line(grid, level, z, y - 1), line(grid, level, z, y + 1),
		line(grid, level, z - 1, y), line(grid, level, z + 1, y),
	};
	double *const across[4] = {
		line(grid, level, z - 1, y - 1), line(grid, level, z - 1, y + 1),
		line(grid, level, z + 1, y - 1), line(grid, level, z + 1, y + 1),
	};

	add_lines(beside, n, near);
	add_lines(across, n, far);
	for (size_t x = 0; x < n; x++) {
		double left = own[(x - 1) & (n - 1)], right = own[(x + 1) & (n - 1)];

		to[x] = weights[0] * own[x] + weights[1] * (left + right + near[x + 1]) +
			weights[2] * (near[x] + near[x + 2] + far[x + 1]) +
			weights[3] * (far[x] + far[x + 2]);
	}
}

/* What remains of the right side; on the finest level that is the charges. */
static void remain(unsigned int level, size_t z, size_t y, double *sums)
{
	double *to = line(residual[level], level, z, y);
	const double *from = level == bench_mg.level ? line(charges, level, z, y) : to;

	stencil(solution[level], level, z, y, poisson, sums);
	for (size_t x = 0; x < points(level); x++)
		to[x] = from[x] - sums[x];
}

static void smooth(unsigned int level, size_t z, size_t y, double *sums)
{
	double *to = line(solution[level], level, z, y);

	stencil(residual[level], level, z, y, smoother, sums);
	for (size_t x = 0; x < points(level); x++)
		to[x] += sums[x];
}

/* From the finer level's residual. */
static void coarsen(unsigned int level, size_t z, size_t y, double *sums)
{
	double *to = line(residual[level], level, z, y);

	stencil(residual[level + 1], level + 1, 2 * z, 2 * y, average, sums);
	for (size_t x = 0; x < points(level); x++)
		to[x] = sums[2 * x];
}

/* From the coarser level's solution: half-way between its points, their mean. */
static void refine(unsigned int level, size_t z, size_t y, double *sums)
{
	double *to = line(solution[level], level, z, y);
	double *coarse = solution[level - 1];
	size_t n = points(level - 1);

	for (size_t x = 0; x < n; x++)
		sums[x] = (line(coarse, level - 1, z / 2, y / 2)[x] +
			   line(coarse, level - 1, z / 2, (y + 1) / 2)[x] +
			   line(coarse, level - 1, (z + 1) / 2, y / 2)[x] +
			   line(coarse, level - 1, (z + 1) / 2, (y + 1) / 2)[x]) / 4;
	for (size_t x = 0; x < n; x++) {
		to[2 * x] += sums[x];
		to[2 * x + 1] += (sums[x] + sums[(x + 1) & (n - 1)]) / 2;
	}
}

void mg_planes(enum mg_phase phase, unsigned int level, size_t begin, size_t end)
{
	size_t n = points(level);
	double sums[2 * n];

	for (size_t z = begin; z < end; z++) {
		for (size_t y = 0; y < n; y++) {
			switch (phase) {
			case MG_REMAIN:
				remain(level, z, y, sums);
				break;
			case MG_SMOOTH:
				smooth(level, z, y, sums);
				break;
			case MG_COARSEN:
				coarsen(level, z, y, sums);
				break;
			case MG_REFINE:
				refine(level, z, y, sums);
				break;
			case MG_CLEAR:
				memset(line(solution[level], level, z, y), 0, n * sizeof(double));
				break;
			}
		}
	}
}

static size_t volume(unsigned int level)
{
	return points(level) * points(level) * points(level);
}

struct extreme {
	double value;
	size_t at;
};

/* Keep the CHARGES largest, the least of them first. */
static void keep(struct extreme *kept, double value, size_t at)
{
	unsigned int i = 0;

	if (value <= kept[0].value)
		return;
	for (; i + 1 < CHARGES && kept[i + 1].value < value; i++)
		kept[i] = kept[i + 1];
	kept[i] = (struct extreme){ value, at };
}

static void place_charges(void)
{
	unsigned int level = bench_mg.level;
	size_t n = points(level);
	struct extreme largest[CHARGES] = { 0 }, least[CHARGES];
	uint64_t state = NPB_SEED;

	for (unsigned int i = 0; i < CHARGES; i++)
		least[i].value = -1;
	for (size_t i = 0; i < volume(level); i++) {
		double value = npb_random(&state);
		size_t z = i / (n * n) + 1, y = i / n % n + 1, x = (i % n + 1) & (n - 1);
		size_t at = (size_t)(line(charges, level, z, y) + x - charges);

		keep(largest, value, at);
		keep(least, -value, at);
	}
	memset(charges, 0, volume(level) * sizeof(double));
	for (unsigned int i = 0; i < CHARGES; i++) {
		charges[largest[i].at] = 1;
		charges[least[i].at] = -1;
	}
}

static bool allocate(void)
{
	for (unsigned int level = 1; level <= bench_mg.level; level++) {
		solution[level] = malloc(volume(level) * sizeof(double));
		residual[level] = malloc(volume(level) * sizeof(double));
		if (!solution[level] || !residual[level])
			return false;
	}
	charges = malloc(volume(bench_mg.level) * sizeof(double));
	if (!charges)
		return false;
	place_charges();
	return true;
}

static const struct {
	unsigned int level;
	double norm;
} classes[] = {
	{ 5, 0.5307707005734e-04 },	/* S */
	{ 7, 0.6467329375339e-05 },	/* W */
	{ 8, 0.2433365309069e-05 },	/* A */
};

static double known_norm(unsigned int level)
{
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (classes[i].level == level)
			return classes[i].norm;
	return 0;
}

/* The edge of the cube. Only edges with a published norm are valid. */
static int prepare(unsigned int size)
{
	unsigned int level = 1;

	while (level < LEVELS - 1 && points(level) < size)
		level++;
	if (points(level) != size || known_norm(level) == 0)
		return EINVAL;
	if (bench_mg.level != level) {
		bench_mg.level = level;
		if (!allocate())
			return ENOMEM;
	}
	memset(solution[level], 0, volume(level) * sizeof(double));
	memset(residual[level], 0, volume(level) * sizeof(double));
	return 0;
}

static bool check(void)
{
	unsigned int level = bench_mg.level;
	double sum = 0, known = known_norm(level);

	for (size_t i = 0; i < volume(level); i++)
		sum += residual[level][i] * residual[level][i];
	return fabs(sqrt(sum / (double)volume(level)) - known) <= 1e-8 * known;
}

const struct bench_kernel bench_kernel_mg = {
	.name = "mg", .size = 256, .quick_size = 32, .warmups = 0, .repeats = 3,
	.prepare = prepare, .check = check,
};
