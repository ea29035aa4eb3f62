// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

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
static void an_eighth_of_what_is_available(void **state)
{
	(void)state;
	assert_int_equal(buffer_kb(8 * 4 * 5000, 4), 5000);
}

static void within_bounds(void **state)
{
	(void)state;
	assert_int_equal(buffer_kb(16u << 20, 2), 64 * 1024);
	assert_int_equal(buffer_kb(16u << 10, 64), 1024);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_eighth_of_what_is_available),
		cmocka_unit_test(within_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
