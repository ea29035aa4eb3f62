// SPDX-License-Identifier: GPL-2.0
#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "list.h"

static const struct {
	const char *name;
	const char *description;
} benchmarks[] = {
	{ "single_ctr", "one lock, one counter that all threads increment" },
	{ "multiple_ctr", "one lock, an array of counters, one for each thread" },
	{ "doubly_list", "one lock, a doubly linked list: dequeue at the head, enqueue at the tail" },
	{ "prod_cons", "one lock, a bounded FIFO: half the threads produce, half consume" },
	{ "affinity", "two locks, two counters that the locks swap between two phases" },
	{ "mlt_ctr_mlt_lock", "several locks, each for a segment of an array of counters" },
	{ "multiple_fifo", "several locks, each for a bounded FIFO of producer/consumer pairs" },
};

#define COUNT (sizeof(benchmarks) / sizeof(benchmarks[0]))

void list_print(void)
{
	for (size_t i = 0; i < COUNT; i++)
		printf("%-17s %s\n", benchmarks[i].name, benchmarks[i].description);
}

const char *list_description(const char *name)
{
	size_t i = 0;

	while (i < COUNT && strcmp(benchmarks[i].name, name) != 0)
		i++;
	assert(i < COUNT);
	return benchmarks[i].description;
}
