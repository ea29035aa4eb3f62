// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A group: tasks that make tasks, and the first that has found something ends the search.
 * group [N]: three numbers up to N whose squares add up to 3 * 41 * 41.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <intervals.h>

#define SUM (3 * 41 * 41)

static struct ivl_group group = IVL_GROUP_INIT;
static atomic_flag taken = ATOMIC_FLAG_INIT;
static int found[3];

struct part {
	int most, first;
};

static void search(void *arg)
{
	const struct part *part = arg;

	for (int second = part->first; second <= part->most; second++) {
		/* What runs long looks whether it still has to. */
		if (ivl_group_error(&group))
			return;
		for (int third = second; third <= part->most; third++) {
			if (part->first * part->first + second * second + third * third != SUM ||
			    atomic_flag_test_and_set(&taken))
				continue;
			found[0] = part->first;
			found[1] = second;
			found[2] = third;
			/* No error, but a reason not to go on. */
			ivl_group_cancel(&group, ECANCELED);
			return;
		}
	}
}

static int run(ivl_interval *self, void *arg)
{
	const int most = *(const int *)arg;
	int error;

	(void)self;
	for (int first = 1; first <= most; first++) {
		struct part part = { most, first };

		/* The argument is copied. Without memory for it this task does the work. */
		if (ivl_group_async(&group, search, &part, sizeof(part), NULL))
			search(&part);
	}
	error = ivl_group_wait(&group);
	return error == ECANCELED ? 0 : error ? error : ENOENT;
}

int main(int argc, char **argv)
{
	int most = argc > 1 ? atoi(argv[1]) : 100;
	ivl_runtime *runtime;
	int error = ivl_start(NULL, &runtime);

	if (error) {
		fprintf(stderr, "%s\n", ivl_last_error());
		return 1;
	}
	error = ivl_run(runtime, run, &most);
	ivl_stop(runtime);
	if (!error)
		printf("some three: %d, %d, %d\n", found[0], found[1], found[2]);
	return error;
}
