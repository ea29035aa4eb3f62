// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The interval graph of the thesis' Figure 1.1 and Listing 1.2:
 *
 *	   +-> b -+
 *	a -+      +-> d
 *	   +-> c -+
 */
#include <stdio.h>

#include <intervals.h>

static int task(ivl_interval *self, void *arg)
{
	(void)arg;
	printf("%s\n", ivl_name(self));
	return 0;
}

static int add_edge(ivl_interval *from, ivl_interval *to)
{
	return ivl_add_edge(ivl_end_point(from), ivl_start_point(to));
}

static int build(ivl_interval *self, void *arg)
{
	ivl_interval *a = ivl_create(self, "a", task, NULL, NULL);
	ivl_interval *b = ivl_create(self, "b", task, NULL, NULL);
	ivl_interval *c = ivl_create(self, "c", task, NULL, NULL);
	ivl_interval *d = ivl_create(self, "d", task, NULL, NULL);
	ivl_interval *const all[] = { a, b, c, d };
	int error = 0;

	(void)arg;
	if (!a || !b || !c || !d)
		error = -1;
	else if (add_edge(a, b) || add_edge(a, c) || add_edge(b, d) || add_edge(c, d))
		error = -1;
	if (error)
		fprintf(stderr, "%s\n", ivl_last_error());
	for (int i = 0; i < 4; i++)
		if (all[i])
			ivl_release(all[i]);
	/* They run now: the body returns. Where it returns an error, they do not. */
	return error;
}

int main(void)
{
	ivl_runtime *runtime;
	int error = ivl_start(NULL, &runtime);

	if (error) {
		fprintf(stderr, "%s\n", ivl_last_error());
		return 1;
	}
	error = ivl_run(runtime, build, NULL);
	ivl_stop(runtime);
	return error ? 1 : 0;
}
