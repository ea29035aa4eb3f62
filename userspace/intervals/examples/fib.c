// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Spawn and sync: Fibonacci numbers by their definition. The child's task lies in its spawner's
 * frame, so nothing is allocated. The spawner computes the other half itself, and takes the child
 * back if no worker has stolen it.
 */
#include <stdio.h>
#include <stdlib.h>

#include <intervals.h>

struct fib {
	unsigned int n;
	unsigned long result;
};

static void fib(void *arg)
{
	struct fib *whole = arg, left = { whole->n - 1, 0 }, right = { whole->n - 2, 0 };
	struct ivl_scope scope = IVL_SCOPE_INIT;
	struct ivl_task task;

	if (whole->n < 2) {
		whole->result = whole->n;
		return;
	}
	if (ivl_spawn(&scope, &task, fib, &left))
		fib(&left);		/* out of memory: it has to be done all the same */
	fib(&right);
	ivl_sync(&scope);
	whole->result = left.result + right.result;
}

static int run(ivl_interval *self, void *arg)
{
	(void)self;
	fib(arg);
	return 0;
}

int main(int argc, char **argv)
{
	struct fib whole = { argc > 1 ? (unsigned int)atoi(argv[1]) : 20, 0 };
	unsigned long a = 0, b = 1;
	ivl_runtime *runtime;

	if (ivl_start(NULL, &runtime)) {
		fprintf(stderr, "%s\n", ivl_last_error());
		return EXIT_FAILURE;
	}
	ivl_run(runtime, run, &whole);
	ivl_stop(runtime);
	printf("fib(%u) = %lu\n", whole.n, whole.result);

	for (unsigned int i = 0; i < whole.n; i++) {
		unsigned long next = a + b;

		a = b;
		b = next;
	}
	return whole.result == a ? EXIT_SUCCESS : EXIT_FAILURE;
}
