// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Priorities: answers to questions come before the pages that are printed in the background.
 * priorities [PAGES]: how many pages were begun before the last answer.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <intervals.h>

#define QUESTIONS 10

static _Atomic(int) pages, answers, pages_before;

static int print_page(ivl_interval *self, void *arg)
{
	(void)self;
	(void)arg;
	atomic_fetch_add(&pages, 1);
	return 0;
}

static int answer(ivl_interval *self, void *arg)
{
	(void)self;
	(void)arg;
	if (atomic_fetch_add(&answers, 1) + 1 == QUESTIONS)
		atomic_store(&pages_before, atomic_load(&pages));
	return 0;
}

static int make(ivl_interval *parent, ivl_body *body, enum ivl_priority priority)
{
	ivl_interval *made = ivl_create(parent, NULL, body, NULL, NULL);
	int error;

	if (!made)
		return -1;
	error = ivl_set_priority(made, priority);
	ivl_release(made);
	return error;
}

/* All are ready when this has ended; the questions came last. */
static int run(ivl_interval *self, void *arg)
{
	const int count = *(const int *)arg;
	int error = 0;

	for (int i = 0; i < count && !error; i++)
		error = make(self, print_page, IVL_PRIORITY_NORMAL);
	for (int i = 0; i < QUESTIONS && !error; i++)
		error = make(self, answer, IVL_PRIORITY_HIGH);
	return error;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 10000;
	ivl_runtime *runtime;
	int error = ivl_start(NULL, &runtime);

	if (error) {
		fprintf(stderr, "%s\n", ivl_last_error());
		return 1;
	}
	error = ivl_run(runtime, run, &count);
	ivl_stop(runtime);
	printf("%d of %d pages before the last answer\n", pages_before, pages);
	return error || answers != QUESTIONS || pages != count;
}
