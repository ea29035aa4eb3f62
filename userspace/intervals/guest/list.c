// SPDX-License-Identifier: GPL-2.0
/* In the place of common/list.c, which knows the paper's seven and no other. */
#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "common/list.h"

static const struct {
	const char *name;
	const char *description;
} benchmarks[] = {
	{ "intervals_mutex", "the runtime's mutex, one counter that all threads increment" },
	{ "intervals_guards", "a guard, and intervals that hold it to increment one counter" },
	{ "intervals_idle", "bursts of fork-join tasks that find the workers asleep" },
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
