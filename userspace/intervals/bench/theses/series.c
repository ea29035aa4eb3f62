// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Java Grande's Series: the first coefficients of the Fourier series of (x + 1)^x on [0, 2], each
 * by the trapezoidal rule with 1000 steps.
 */
#include "theses.h"

#define STEPS 1000
#define LENGTH 2.0

struct bench_series bench_series;

static double function(double x)
{
	return pow(x + 1, x);
}

/* The suite's rule leaves out the last inner point, and its published values do. */
static double integrate(double omega, double (*wave)(double))
{
	double step = LENGTH / STEPS;
	double sum = (function(0) * wave(0) + function(LENGTH) * wave(omega * LENGTH)) / 2;

	for (unsigned int k = 1; k < STEPS - 1; k++)
		sum += function(k * step) * wave(omega * (k * step));
	return sum * step;
}

void series_terms(size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++) {
		double omega = M_PI * (double)i;

		bench_series.cosines[i] = integrate(omega, cos) / (i ? 1 : 2);
		bench_series.sines[i] = integrate(omega, sin);
	}
}

static int prepare(unsigned int size)
{
	struct bench_series *s = &bench_series;

	if (size < 4)
		return EINVAL;
	if (s->n != size) {
		s->n = size;
		s->cosines = malloc(size * sizeof(double));
		s->sines = malloc(size * sizeof(double));
		if (!s->cosines || !s->sines)
			return ENOMEM;
	}
	for (size_t i = 0; i < size; i++)
		s->cosines[i] = s->sines[i] = NAN;
	return 0;
}

/* As the suite checks them. */
static bool published(void)
{
	static const double values[4][2] = {
		{ 2.8729524964837996, 0 },
		{ 1.1161046676147888, -1.8819691893398025 },
		{ 0.34429060398168704, -1.1645642623320958 },
		{ 0.15238898702519288, -0.8143461113044298 },
	};

	for (unsigned int i = 0; i < 4; i++)
		if (!(fabs(bench_series.cosines[i] - values[i][0]) < 1e-12) ||
		    !(fabs(bench_series.sines[i] - values[i][1]) < 1e-12))
			return false;
	return true;
}

/*
 * Sampled at 1000 points, the waves of the indices i and i + 1000 are the same. So all terms come
 * from one table of angles, which integers index: no error grows with i, as in omega * x.
 */
static bool is_term(size_t i, const double *samples, const double *cosines, const double *sines)
{
	double cosine = 0, sine = 0;

	for (size_t k = 0; k <= STEPS; k++) {
		cosine += samples[k] * cosines[i * k % STEPS];
		sine += samples[k] * sines[i * k % STEPS];
	}
	return fabs(bench_series.cosines[i] - cosine / (i ? 1 : 2)) < 1e-7 &&
	       fabs(bench_series.sines[i] - sine) < 1e-7;
}

static bool check(void)
{
	double samples[STEPS + 1], cosines[STEPS], sines[STEPS];
	double step = LENGTH / STEPS;

	for (unsigned int k = 0; k <= STEPS; k++)
		samples[k] = function(k * step) * step;
	samples[0] /= 2;
	samples[STEPS - 1] = 0;
	samples[STEPS] /= 2;
	for (unsigned int k = 0; k < STEPS; k++) {
		cosines[k] = cos(2 * M_PI * k / STEPS);
		sines[k] = sin(2 * M_PI * k / STEPS);
	}
	for (size_t i = 0; i < bench_series.n; i++)
		if (!is_term(i, samples, cosines, sines))
			return false;
	return published();
}

const struct bench_kernel bench_kernel_series = {
	.name = "series", .size = 1000000, .quick_size = 40, .warmups = 0, .repeats = 1,
	.prepare = prepare, .check = check,
};
