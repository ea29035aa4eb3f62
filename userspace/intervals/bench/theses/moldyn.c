// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Java Grande's MolDyn: argon atoms under a Lennard-Jones potential, in a box that repeats itself.
 * The suite publishes the kinetic energy after 50 steps, so constants, random numbers and
 * integration are the suite's, in the potential's units.
 *
 * As in the suite's version for threads, the atoms are dealt to lanes, and each lane adds the
 * forces of its pairs to an array of its own. There are MOLDYN_LANES lanes, however many workers,
 * so that sums do not depend on the workers.
 */
#include "theses.h"

#define DENSITY 0.83134
#define TEMPERATURE 0.722
#define STEP 0.064
#define SCALE_EVERY 10		/* steps, of the first SCALE_UNTIL */
#define SCALE_UNTIL 19
/*
 * Cells along an edge. With fewer the forces end where atoms still repel each other: a pair that
 * comes so near gains energy from nothing, and all fly apart. Of more no unsigned int has the cube.
 */
#define LEAST 4
#define MOST 1625

struct bench_moldyn bench_moldyn;

/* x, y and z of each atom, one behind the other. */
static double *positions, *velocities, *forces;
static double *lanes[MOLDYN_LANES];
static double side, cut_off;
/* Kinetic, in the suite's unit. */
static double energy, expected;

/* The suite's: with the factor of Lewis, Goodman and Miller, but modulo 2^31. */
static double uniform(uint32_t *state)
{
	*state = (*state * 16807U & 0x7fffffff) % 0x7fffffff;
	return 4.656612875e-10 * *state;
}

static void normal(uint32_t *state, double *first, double *second)
{
	double x, y, square, factor;

	do {
		x = 2 * uniform(state) - 1;
		y = 2 * uniform(state) - 1;
		square = x * x + y * y;
	} while (square >= 1);
	factor = sqrt(-2 * log(square) / square);
	*first = factor * x;
	*second = factor * y;
}

/* A face-centred cubic lattice of m * m * m cells. */
static void place_atoms(unsigned int m)
{
	static const double bases[4][3] = { { 0, 0, 0 }, { 1, 1, 0 }, { 1, 0, 1 }, { 0, 1, 1 } };
	double edge = side / m, *atom = positions;

	for (unsigned int b = 0; b < 4; b++) {
		for (unsigned int cell = 0; cell < m * m * m; cell++, atom += 3) {
			unsigned int at[3] = { cell / (m * m), cell / m % m, cell % m };

			for (unsigned int d = 0; d < 3; d++)
				atom[d] = at[d] * edge + bases[b][d] * edge * 0.5;
		}
	}
}

static double speed_up(double factor)
{
	double sum = 0;

	for (size_t i = 0; i < 3 * bench_moldyn.atoms; i++) {
		velocities[i] *= factor;
		sum += velocities[i] * velocities[i];
	}
	return sum;
}

static double temperature(double squares)
{
	return 16 / (double)(bench_moldyn.atoms - 1) * squares;
}

/* All x first, then all y, then all z; none of which moves the whole. Velocities are per step. */
static void give_velocities(void)
{
	size_t n = bench_moldyn.atoms;
	uint32_t state = 1;

	for (unsigned int d = 0; d < 3; d++) {
		double sum = 0;

		for (size_t i = 0; i < n; i += 2)
			normal(&state, &velocities[3 * i + d], &velocities[3 * i + 3 + d]);
		for (size_t i = 0; i < n; i++)
			sum += velocities[3 * i + d];
		for (size_t i = 0; i < n; i++)
			velocities[3 * i + d] -= sum / (double)n;
	}
	speed_up(STEP * sqrt(TEMPERATURE / temperature(speed_up(1))));
}

void moldyn_move(size_t begin, size_t end)
{
	for (size_t i = 3 * begin; i < 3 * end; i++) {
		positions[i] += velocities[i] + forces[i];
		if (positions[i] < 0)
			positions[i] += side;
		if (positions[i] > side)
			positions[i] -= side;
		velocities[i] += forces[i];
	}
}

/* The nearest of the other's images. */
static double nearest(double difference)
{
	if (difference < -side / 2)
		return difference + side;
	return difference > side / 2 ? difference - side : difference;
}

/* The pairs of one atom with all later atoms. */
static void add_pairs(size_t i, double *sums)
{
	double own[3] = { 0, 0, 0 };

	for (size_t j = i + 1; j < bench_moldyn.atoms; j++) {
		double x = nearest(positions[3 * i] - positions[3 * j]);
		double y = nearest(positions[3 * i + 1] - positions[3 * j + 1]);
		double z = nearest(positions[3 * i + 2] - positions[3 * j + 2]);
		double square = x * x + y * y + z * z, inverse, fourth, force;

		if (square > cut_off * cut_off)
			continue;
		inverse = 1 / square;
		fourth = inverse * inverse * inverse * inverse;
		force = fourth * inverse * inverse * inverse - 0.5 * fourth;
		own[0] += x * force;
		own[1] += y * force;
		own[2] += z * force;
		sums[3 * j] -= x * force;
		sums[3 * j + 1] -= y * force;
		sums[3 * j + 2] -= z * force;
	}
	for (unsigned int d = 0; d < 3; d++)
		sums[3 * i + d] += own[d];
}

void moldyn_pairs(size_t begin, size_t end)
{
	for (size_t lane = begin; lane < end; lane++) {
		memset(lanes[lane], 0, 3 * bench_moldyn.atoms * sizeof(double));
		for (size_t i = lane; i < bench_moldyn.atoms; i += MOLDYN_LANES)
			add_pairs(i, lanes[lane]);
	}
}

void moldyn_accelerate(size_t begin, size_t end)
{
	for (size_t i = 3 * begin; i < 3 * end; i++) {
		forces[i] = 0;
		for (unsigned int lane = 0; lane < MOLDYN_LANES; lane++)
			forces[i] += lanes[lane][i];
		forces[i] *= STEP * STEP / 2;
		velocities[i] += forces[i];
	}
}

void moldyn_measure(unsigned int step)
{
	double squares = speed_up(1) / (STEP * STEP);

	if (step < SCALE_UNTIL && (step + 1) % SCALE_EVERY == 0) {
		speed_up(sqrt(TEMPERATURE / temperature(squares)));
		squares = TEMPERATURE * (double)(bench_moldyn.atoms - 1) / 16;
	}
	energy = 24 * squares;
}

static bool allocate(size_t atoms)
{
	size_t bytes = 3 * atoms * sizeof(double);

	positions = malloc(bytes);
	velocities = malloc(bytes);
	forces = malloc(bytes);
	for (unsigned int i = 0; i < MOLDYN_LANES; i++) {
		lanes[i] = malloc(bytes);
		if (!lanes[i])
			return false;
	}
	return positions && velocities && forces;
}

/* The energies that the suite publishes: sizes A (a cube of 8 cells) and B (13). */
static const struct {
	unsigned int cells;
	double energy;
} known[] = { { 8, 1731.4306625334357 }, { 13, 7397.392307839352 } };

static double known_energy(size_t atoms)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if ((size_t)4 * known[i].cells * known[i].cells * known[i].cells == atoms)
			return known[i].energy;
	return 0;
}

static void begin(unsigned int cells)
{
	energy = 0;
	place_atoms(cells);
	give_velocities();
	memset(forces, 0, 3 * bench_moldyn.atoms * sizeof(double));
}

static void run_alone(void)
{
	for (unsigned int step = 0; step < MOLDYN_STEPS; step++) {
		moldyn_move(0, bench_moldyn.atoms);
		moldyn_pairs(0, MOLDYN_LANES);
		moldyn_accelerate(0, bench_moldyn.atoms);
		moldyn_measure(step);
	}
}

/* Unpublished sizes: what one thread computes. */
static int prepare(unsigned int cells)
{
	size_t atoms = (size_t)4 * cells * cells * cells;

	if (cells < LEAST || cells > MOST)
		return EINVAL;
	if (bench_moldyn.atoms != atoms) {
		if (!allocate(atoms))
			return ENOMEM;
		bench_moldyn.atoms = atoms;
		side = pow((double)atoms / DENSITY, 0.3333333);
		cut_off = cells / 4.0;
		expected = known_energy(atoms);
		if (expected == 0) {
			begin(cells);
			run_alone();
			expected = energy;
		}
	}
	begin(cells);
	return 0;
}

/* Sums in another order differ in the last bits, which 50 steps let grow. */
static bool check(void)
{
	return fabs(energy - expected) < 1e-9 * expected;
}

const struct bench_kernel bench_kernel_moldyn = {
	.name = "moldyn", .size = 13, .quick_size = 8, .warmups = 0, .repeats = 3,
	.prepare = prepare, .check = check,
};
