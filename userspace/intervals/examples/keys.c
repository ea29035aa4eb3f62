// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Per-task storage, in a runtime in which the main thread works, too: each task has a buffer that
 * its functions find by a key, and which is freed with the task. keys [N]: the length of the
 * numbers up to N, written one after the other.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <intervals.h>

#define BUFFER 64

static struct ivl_key buffer_key;
static _Atomic(size_t) length;

/* The calling task's. NULL: no memory. */
static char *buffer(void)
{
	char *own = ivl_key_get(&buffer_key);

	if (own)
		return own;
	own = calloc(1, BUFFER);
	if (own && ivl_key_set(&buffer_key, own)) {
		free(own);
		own = NULL;
	}
	return own;
}

/* Needs no argument for the buffer, and could be in a library. */
static size_t write_number(size_t number)
{
	char *own = buffer();

	if (!own)
		return 0;
	snprintf(own, BUFFER, "%zu", number);
	return strlen(own);
}

static void write_part(size_t begin, size_t end, void *arg)
{
	size_t sum = 0;

	(void)arg;
	for (size_t i = begin; i < end; i++)
		sum += write_number(i);
	atomic_fetch_add(&length, sum);
}

static int run(ivl_interval *self, void *arg)
{
	(void)self;
	ivl_parallel_for(0, *(size_t *)arg, 0, write_part, NULL);
	return 0;
}

int main(int argc, char **argv)
{
	size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
	ivl_runtime *runtime;

	if (ivl_start(NULL, &runtime)) {
		fprintf(stderr, "%s\n", ivl_last_error());
		return 1;
	}
	/* Before the first task that uses it. */
	ivl_key_init(&buffer_key, free);
	ivl_run_here(runtime, run, &count);
	ivl_stop(runtime);
	printf("%zu characters\n", length);
	return argc == 1 && length != 10 + 2 * 90 + 3 * 900 + 4 * 9000 + 5 * 90000;
}
