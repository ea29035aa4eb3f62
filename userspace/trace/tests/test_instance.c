// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include "unit.h"
#include "instance.h"

static size_t buffer_kb(size_t available_kb, size_t cpus)
{
	char text[256];
	size_t kb;
	FILE *meminfo;

	snprintf(text, sizeof(text),
		 "MemTotal:       32654321 kB\nMemFree:             800 kB\n"
		 "MemAvailable:   %8zu kB\nCached:          4000000 kB\n", available_kb);
	meminfo = fmemopen(text, sizeof(text), "r");
	assert_non_null(meminfo);
	kb = instance_buffer_kb(meminfo, cpus);
	fclose(meminfo);
	return kb;
}

/* What the page cache holds is to be had; what is free says little. */
TEST(an_eighth_of_what_is_available)
{
	assert_int_equal(buffer_kb(8 * 4 * 5000, 4), 5000);
}

TEST(within_bounds)
{
	assert_int_equal(buffer_kb(16u << 20, 2), 64 * 1024);
	assert_int_equal(buffer_kb(16u << 10, 64), 1024);
}

RUN_TESTS(NULL, NULL)
