// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Cancellation and join: each of many intervals searches a part of a haystack. The interval that
 * finds the needle cancels the search: parts that have not begun never do, and running parts are
 * asked to stop. main joins the search's end for the result.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <intervals.h>

#define PARTS 64
#define LENGTH 100000			/* of a part */
#define NEEDLE 12345678ul

static ivl_interval *search;
static struct part {
	unsigned long first;
} parts[PARTS];
static unsigned long found;
static atomic_uint begun;

static int look(ivl_interval *self, void *arg)
{
	const struct part *part = arg;

	(void)self;
	atomic_fetch_add(&begun, 1);
	for (unsigned long i = part->first; i < part->first + LENGTH; i++) {
		if (i * 3 == NEEDLE) {
			found = i;
			ivl_cancel(search);
			return 0;
		}
		if (i % 1000 == 0 && ivl_cancelled())
			return 0;
	}
	return 0;
}

static int find(ivl_interval *self, void *arg)
{
	int error;

	(void)arg;
	/* Without a body: it lasts as long as its parts. */
	search = ivl_create(self, "search", NULL, NULL, NULL);
	if (!search)
		return ENOMEM;
	for (int i = 0; i < PARTS; i++) {
		ivl_interval *part;

		parts[i].first = (unsigned long)i * LENGTH;
		part = ivl_create(search, "part", look, &parts[i], NULL);
		if (!part)
			ivl_fail(ENOMEM);	/* then no part runs */
		else
			ivl_release(part);
	}
	ivl_schedule();
	/* This worker runs parts meanwhile. */
	error = ivl_join(ivl_end_point(search));
	printf("search: %s; %u of %d parts have begun\n", error ? strerror(error) : "at its end",
	       atomic_load(&begun), PARTS);
	ivl_release(search);
	/* The search ends cancelled if the needle was found; any other end is an error. */
	if (error == ECANCELED)
		return 0;
	return error ? error : ENOENT;
}

int main(void)
{
	ivl_runtime *runtime;
	int error = ivl_start(NULL, &runtime);

	if (error) {
		fprintf(stderr, "%s\n", ivl_last_error());
		return 1;
	}
	error = ivl_run(runtime, find, NULL);
	ivl_stop(runtime);
	printf("found %lu\n", found);
	return error || found * 3 != NEEDLE;
}
