/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Points of the plane as complex numbers. C's own multiply and divide with regard for
 * infinities, which costs a test and a call.
 */
#ifndef FMM_COMPLEX_NUMBER_H
#define FMM_COMPLEX_NUMBER_H

#include <math.h>

struct complex_number {
	double re, im;
};

static inline struct complex_number plus(struct complex_number a, struct complex_number b)
{
	return (struct complex_number){ a.re + b.re, a.im + b.im };
}

static inline struct complex_number minus(struct complex_number a, struct complex_number b)
{
	return (struct complex_number){ a.re - b.re, a.im - b.im };
}

static inline struct complex_number times(struct complex_number a, struct complex_number b)
{
	return (struct complex_number){ a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re };
}

static inline struct complex_number scaled(double factor, struct complex_number a)
{
	return (struct complex_number){ factor * a.re, factor * a.im };
}

static inline double square(struct complex_number a)
{
	return a.re * a.re + a.im * a.im;
}

/* factor / a */
static inline struct complex_number inverse(double factor, struct complex_number a)
{
	double part = factor / square(a);

	return (struct complex_number){ part * a.re, -part * a.im };
}

/* log |a| */
static inline double log_size(struct complex_number a)
{
	return log(square(a)) / 2;
}

#endif
