// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Errors: a build in which one step fails. What depends on it does not run, the rest
 * does, and the whole fails; a step that was cancelled makes nothing fail but what
 * depends on it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <intervals.h>

static int step(ivl_interval *self, void *arg)
{
	int *error = arg;

	printf("%s\n", ivl_name(self));
	return error ? *error : 0;
}

enum { PARSE, CHECK, LINK, MANUAL, PRINT, STEPS };

static int build(ivl_interval *self, void *arg)
{
	static const char *const names[] = { "parse", "check", "link", "manual", "print" };
	static const int edges[][2] = { { PARSE, CHECK }, { CHECK, LINK }, { MANUAL, PRINT } };
	static int broken = EIO;
	ivl_interval *steps[STEPS];

	(void)arg;
	for (int i = 0; i < STEPS; i++) {
		steps[i] = ivl_create(self, names[i], step, i == CHECK ? &broken : NULL, NULL);
		if (!steps[i])
			return -1;
	}
	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
		if (ivl_add_edge(ivl_end_point(steps[edges[i][0]]),
				 ivl_start_point(steps[edges[i][1]])))
			return -1;
	/* It is not needed today. */
	ivl_cancel(steps[PRINT]);
	ivl_schedule();
	for (int i = 0; i < STEPS; i++) {
		int error = ivl_join(ivl_end_point(steps[i]));

		printf("%s: %s\n", names[i], error ? strerror(error) : "done");
		ivl_release(steps[i]);
	}
	return 0;
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
	printf("all: %s\n", error ? strerror(error) : "done");
	ivl_stop(runtime);
	return error == EIO ? 0 : 1;
}
