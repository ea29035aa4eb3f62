// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Java Grande's MonteCarlo: a share's price is simulated day by day, as a geometric Brownian
 * motion, along many paths; of each path's returns one estimates what the share yields in a year.
 * The suite takes drift and volatility from a file of prices, which is not ours: here they are
 * given, and have to come out again.
 */
#include "theses.h"

#define DAYS 1000
#define YEAR 365.0
#define DRIFT 0.05
#define VOLATILITY 0.2

struct bench_montecarlo bench_montecarlo;

/* Each path's estimates. */
static double *drifts, *variances;

/* Splitmix64: any seed is a good one. */
static double uniform(uint64_t *state)
{
	uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return (double)((x ^ x >> 31) >> 11) / 9007199254740992.0;
}

/* Two independent normal random numbers (Marsaglia's polar method). */
static void normal(uint64_t *state, double two[2])
{
	double x, y, square, factor;

	do {
		x = 2 * uniform(state) - 1;
		y = 2 * uniform(state) - 1;
		square = x * x + y * y;
	} while (square >= 1 || square == 0);
	factor = sqrt(-2 * log(square) / square);
	two[0] = x * factor;
	two[1] = y * factor;
}

static void simulate(uint64_t seed, double prices[DAYS + 1])
{
	double mean = (DRIFT - VOLATILITY * VOLATILITY / 2) / YEAR;
	double deviation = VOLATILITY / sqrt(YEAR), two[2];
	uint64_t state = seed << 32;

	prices[0] = 100;
	for (unsigned int day = 0; day < DAYS; day++) {
		if (day % 2 == 0)
			normal(&state, two);
		prices[day + 1] = prices[day] * exp(mean + deviation * two[day % 2]);
	}
}

void montecarlo_paths(size_t begin, size_t end)
{
	double prices[DAYS + 1];

	for (size_t i = begin; i < end; i++) {
		double sum = 0, squares = 0, mean;

		simulate(i + 1, prices);
		for (unsigned int day = 0; day < DAYS; day++) {
			double yield = log(prices[day + 1] / prices[day]);

			sum += yield;
			squares += yield * yield;
		}
		mean = sum / DAYS;
		variances[i] = (squares - sum * mean) / (DAYS - 1) * YEAR;
		drifts[i] = mean * YEAR + variances[i] / 2;
	}
}

static int prepare(unsigned int size)
{
	if (size < 2)
		return EINVAL;
	if (bench_montecarlo.paths != size) {
		bench_montecarlo.paths = size;
		drifts = malloc(size * sizeof(double));
		variances = malloc(size * sizeof(double));
		if (!drifts || !variances)
			return ENOMEM;
	}
	for (size_t i = 0; i < size; i++)
		drifts[i] = variances[i] = NAN;
	return 0;
}

/* Is the mean of the values, whose variance is known, within four standard errors? */
static bool is_mean(const double *values, double mean, double variance)
{
	size_t n = bench_montecarlo.paths;
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += values[i];
	return fabs(sum / (double)n - mean) < 4 * sqrt(variance / (double)n);
}

/* Is `variance` as close to the values' own as chance allows? */
static bool is_variance(const double *values, double mean, double variance)
{
	size_t n = bench_montecarlo.paths;
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (values[i] - mean) * (values[i] - mean);
	return fabs(sum / (double)n - variance) < 4 * variance * sqrt(2 / (double)n);
}

/* Theory's values of both estimates; the seeds are fixed, so the check is deterministic. */
static bool check(void)
{
	double square = VOLATILITY * VOLATILITY;
	double of_variances = 2 * square * square / (DAYS - 1);
	double of_drifts = square * YEAR / DAYS + of_variances / 4;

	return is_mean(drifts, DRIFT, of_drifts) && is_variance(drifts, DRIFT, of_drifts) &&
	       is_mean(variances, square, of_variances) &&
	       is_variance(variances, square, of_variances);
}

const struct bench_kernel bench_kernel_montecarlo = {
	.name = "montecarlo", .size = 60000, .quick_size = 1600, .warmups = 0, .repeats = 3,
	.prepare = prepare, .check = check,
};
