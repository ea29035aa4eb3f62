/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A recursion of tasks. */
#ifndef GOMP_FIB_H
#define GOMP_FIB_H

static long fib(int n)
{
	long a, b;

	if (n < 2)
		return n;
#pragma omp task shared(a)
	a = fib(n - 1);
#pragma omp task shared(b)
	b = fib(n - 2);
#pragma omp taskwait
	return a + b;
}

#endif
