// SPDX-License-Identifier: GPL-2.0
/*
 * The expansions of L. Greengard and V. Rokhlin, "A Fast Algorithm for Particle
 * Simulations" (J. Comput. Phys. 73, 1987), about the centre c of a box of side s, with
 * coefficients in the unit of length s, which keeps them in range in the smallest box:
 *
 *	multipole	f(z) = a_0 log(z - c) + sum over k >= 1 of a_k (s / (z - c))^k
 *	local		f(z) = sum over k >= 0 of b_k ((z - c) / s)^k
 *
 * The potential is the real part of f, and only that: the imaginary part of a logarithm
 * is dropped. The field is the derivative of f.
 *
 * Each further term halves the error at the least but for the very corners of two boxes
 * of one size and two sides apart, hence log2(1 / precision) terms (Carrier et al., 1988).
 *
 * All read what a phase before has finished and write to the box that is named last, or
 * to its parent with the parent's lock.
 */
#include "fmm.h"

static double binomial[2 * MAX_TERMS][MAX_TERMS + 1];	/* [n][k] */
static double shift[MAX_TERMS + 1][MAX_TERMS + 1];	/* [l][k]: binomial [l + k - 1][k - 1] */

void expansions_init(void)
{
	sim.terms = (unsigned int)ceil(-log2(sim.precision));
	for (unsigned int n = 0; n < 2 * MAX_TERMS; n++) {
		binomial[n][0] = 1;
		for (unsigned int k = 1; n && k <= MAX_TERMS; k++)
			binomial[n][k] = binomial[n - 1][k - 1] + binomial[n - 1][k];
	}
	for (unsigned int l = 1; l <= sim.terms; l++)
		for (unsigned int k = 1; k <= sim.terms; k++)
			shift[l][k] = binomial[l + k - 1][k - 1];
}

/* power[k] = x^k */
static void fill_powers(struct complex_number *power, struct complex_number x)
{
	power[0] = (struct complex_number){ 1, 0 };
	for (unsigned int k = 1; k <= sim.terms; k++)
		power[k] = times(power[k - 1], x);
}

static void add(struct complex_number *sum, double factor, struct complex_number a)
{
	sum->re += factor * a.re;
	sum->im += factor * a.im;
}

void particles_to_multipole(struct box *box)
{
	for (unsigned int i = 0; i < box->particles; i++) {
		struct complex_number z = scaled(1 / box->size,
						 minus(box->position[i], box->centre));
		struct complex_number power = { box->mass[i], 0 };

		box->multipole[0].re += box->mass[i];
		for (unsigned int k = 1; k <= sim.terms; k++) {
			power = times(power, z);
			add(&box->multipole[k], -1 / (double)k, power);
		}
	}
}

void multipole_to_parent(const struct box *box)
{
	const struct complex_number *a = box->multipole;
	struct complex_number *sum = box->parent->multipole;
	struct complex_number power[MAX_TERMS + 1], small[MAX_TERMS + 1];
	double half = 1;

	fill_powers(power, scaled(1 / box->parent->size, minus(box->centre, box->parent->centre)));
	for (unsigned int k = 1; k <= sim.terms; k++)
		small[k] = scaled(half /= 2, a[k]);
	add(&sum[0], 1, a[0]);
	for (unsigned int l = 1; l <= sim.terms; l++) {
		add(&sum[l], -a[0].re / l, power[l]);
		for (unsigned int k = 1; k <= l; k++)
			add(&sum[l], binomial[l - 1][k - 1], times(small[k], power[l - k]));
	}
}

void multipole_to_local(const struct box *from, struct box *to)
{
	const struct complex_number *a = from->multipole;
	struct complex_number distance = minus(from->centre, to->centre);
	struct complex_number power[MAX_TERMS + 1], term[MAX_TERMS + 1];

	fill_powers(power, inverse(from->size, distance));
	to->local[0].re += a[0].re * log_size(distance);
	for (unsigned int k = 1; k <= sim.terms; k++) {
		term[k] = scaled(k % 2 ? -1 : 1, times(a[k], power[k]));
		to->local[0].re += term[k].re;
	}
	for (unsigned int l = 1; l <= sim.terms; l++) {
		struct complex_number sum = { -a[0].re / l, 0 };

		for (unsigned int k = 1; k <= sim.terms; k++)
			add(&sum, shift[l][k], term[k]);
		add(&to->local[l], 1, times(sum, power[l]));
	}
}

/* By Horner's rule: the function and its derivative, from the highest term down. */
void multipole_to_particles(const struct box *from, struct box *to)
{
	const struct complex_number *a = from->multipole;

	for (unsigned int i = 0; i < to->particles; i++) {
		struct complex_number distance = minus(to->position[i], from->centre);
		struct complex_number x = inverse(from->size, distance);
		struct complex_number f = { 0 }, slope = { 0 };
		struct particle *p = to->particle[i];

		for (unsigned int k = sim.terms; k > 0; k--) {
			slope = plus(times(slope, x), scaled(k, a[k]));
			f = times(plus(f, a[k]), x);
		}
		p->potential += a[0].re * log_size(distance) + f.re;
		slope = minus(a[0], times(slope, x));
		p->field = plus(p->field, times(slope, inverse(1, distance)));
	}
}

void particles_to_local(const struct box *from, struct box *to)
{
	for (unsigned int i = 0; i < from->particles; i++) {
		struct complex_number distance = minus(from->position[i], to->centre);
		struct complex_number x = inverse(to->size, distance);
		struct complex_number power = { from->mass[i], 0 };

		to->local[0].re += from->mass[i] * log_size(distance);
		for (unsigned int k = 1; k <= sim.terms; k++) {
			power = times(power, x);
			add(&to->local[k], -1 / (double)k, power);
		}
	}
}

void local_from_parent(struct box *box)
{
	const struct complex_number *b = box->parent->local;
	struct complex_number power[MAX_TERMS + 1];
	double half = 1;

	fill_powers(power, scaled(1 / box->parent->size, minus(box->centre, box->parent->centre)));
	for (unsigned int l = 0; l <= sim.terms; l++) {
		struct complex_number sum = { 0 };

		for (unsigned int k = l; k <= sim.terms; k++)
			add(&sum, binomial[k][l], times(b[k], power[k - l]));
		add(&box->local[l], half, sum);
		half /= 2;
	}
}

void local_to_particles(struct box *box)
{
	for (unsigned int i = 0; i < box->particles; i++) {
		struct complex_number z = scaled(1 / box->size,
						 minus(box->position[i], box->centre));
		struct complex_number f = { 0 }, slope = { 0 };
		struct particle *p = box->particle[i];

		for (unsigned int k = sim.terms + 1; k-- > 0; ) {
			slope = plus(times(slope, z), f);
			f = plus(times(f, z), box->local[k]);
		}
		p->potential += f.re;
		p->field = plus(p->field, scaled(1 / box->size, slope));
	}
}
