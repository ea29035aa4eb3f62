// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Prints the places of this machine, and runs a task at each of them.
 * On another machine, in the words of hwloc:
 *	HWLOC_SYNTHETIC="package:2 l3:2 core:4 pu:1" INTERVALS_PLACES=llc intervals-places
 */
#include <stdio.h>
#include <stdlib.h>

#include <intervals.h>

/* The places around this one, from the outermost to it: "machine > package-0 > llc-1". */
static void print_path(const ivl_place *place)
{
	if (ivl_place_outer(place)) {
		print_path(ivl_place_outer(place));
		printf(" > ");
	}
	printf("%s", ivl_place_name(place));
}

static int visit(ivl_interval *self, void *arg)
{
	const char *here = ivl_place_name(ivl_here());

	(void)arg;
	/* A place is a hint: a worker of another one may have stolen the task. */
	printf("the task for %s ran at %s\n", ivl_name(self), here);
	return 0;
}

static int start(ivl_interval *self, void *arg)
{
	ivl_runtime *runtime = arg;

	for (unsigned int i = 0; i < ivl_place_count(runtime); i++) {
		const ivl_place *place = ivl_place_at(runtime, i);
		ivl_interval *task = ivl_create(self, ivl_place_name(place), visit, NULL, place);

		if (!task)
			return 1;
		ivl_release(task);
	}
	return 0;
}

int main(void)
{
	struct ivl_config config;
	ivl_runtime *runtime;
	int error = ivl_config_init(&config);

	if (!error)
		error = ivl_start(&config, &runtime);
	if (error) {
		fprintf(stderr, "%s\n", ivl_last_error());
		return EXIT_FAILURE;
	}
	printf("%u workers in %u places, found by %s\n", ivl_worker_count(runtime),
	       ivl_place_count(runtime), ivl_places_name(config.places));
	for (unsigned int i = 0; i < ivl_place_count(runtime); i++) {
		const ivl_place *place = ivl_place_at(runtime, i);

		print_path(place);
		if (ivl_place_node(place) >= 0)
			printf(", NUMA node %d", ivl_place_node(place));
		printf("\n");
	}
	error = ivl_run(runtime, start, runtime);
	ivl_stop(runtime);
	return error ? EXIT_FAILURE : EXIT_SUCCESS;
}
