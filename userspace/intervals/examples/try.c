// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Children and loops that may fail: numbers are read from words, by two children and by a loop.
 * try [WORD...]: the numbers' sum, or the first word that is not a number.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <intervals.h>

struct words {
	char **words;
	size_t count;
	long *numbers;
};

static int read_number(const char *word, long *number)
{
	char *end;

	errno = 0;
	*number = strtol(word, &end, 10);
	if (*end || end == word)
		return EINVAL;
	return errno;
}

/* What has not begun when one part has failed does not. */
static int read_part(size_t begin, size_t end, void *arg)
{
	struct words *all = arg;

	for (size_t i = begin; i < end; i++) {
		int error = read_number(all->words[i], &all->numbers[i]);

		if (error)
			return error;
	}
	return 0;
}

static int read_all(void *arg)
{
	struct words *all = arg;

	return ivl_try_for(0, all->count, 1, read_part, all);
}

static int run(ivl_interval *self, void *arg)
{
	struct words *all = arg;
	struct words left = *all, right = *all;
	struct ivl_try_scope scope = IVL_TRY_SCOPE_INIT;
	struct ivl_try_task task;
	int error, synced;

	(void)self;
	left.count = all->count / 2;
	right.count = all->count - left.count;
	right.words += left.count;
	right.numbers += left.count;
	if (ivl_try_spawn(&scope, &task, read_all, &left))
		ivl_try_cancel(&scope, ENOMEM);
	error = read_all(&right);
	/* The child is waited for in any case. */
	synced = ivl_try_sync(&scope);
	return synced ? synced : error;
}

static int read_words(ivl_runtime *runtime, char **words, size_t count)
{
	struct words all = { words, count, calloc(count, sizeof(long)) };
	int error = all.numbers ? ivl_run(runtime, run, &all) : ENOMEM;
	long sum = 0;

	for (size_t i = 0; i < count && !error; i++)
		sum += all.numbers[i];
	if (error)
		printf("%s\n", strerror(error));
	else
		printf("%ld\n", sum);
	free(all.numbers);
	return error;
}

int main(int argc, char **argv)
{
	char *good[] = { "1", "20", "300", "4000" }, *bad[] = { "1", "20", "3oo", "4000" };
	ivl_runtime *runtime;
	int error = ivl_start(NULL, &runtime);

	if (error) {
		fprintf(stderr, "%s\n", ivl_last_error());
		return 1;
	}
	if (argc > 1)
		error = read_words(runtime, argv + 1, (size_t)argc - 1);
	else
		error = read_words(runtime, good, 4) || read_words(runtime, bad, 4) != EINVAL;
	ivl_stop(runtime);
	return error;
}
