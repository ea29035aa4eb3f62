// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>

#include "unit.h"
#include "cpus.h"

/* A kernel for 2,048 CPUs, and the last one that the process may use. */
#define KERNEL_SIZE (2048 / 8)
static size_t last_cpu;

int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *cpus);
int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *cpus)
{
	assert_int_equal(pid, 7);
	if (size < KERNEL_SIZE) {
		errno = EINVAL;
		return -1;
	}
	memset(cpus, 0, size);
	CPU_SET_S(3, size, cpus);
	CPU_SET_S(last_cpu, size, cpus);
	return 0;
}

TEST(those_that_may_be_used)
{
	char text[16];
	cpu_set_t cpus;

	last_cpu = 1023;
	assert_int_equal(cpus_allowed(7, &cpus), 0);
	cpus_format(&cpus, text, sizeof(text));
	assert_string_equal(text, "3,1023");
	last_cpu = 1024;
	assert_int_equal(cpus_allowed(7, &cpus), -1);
	assert_int_equal(errno, EOVERFLOW);
}

TEST(lists_are_read_and_written)
{
	static const struct {
		const char *list, *same;
		int count;
	} cases[] = {
		{ "0", "0", 1 }, { "0-3", "0-3", 4 }, { "2,3,8", "2-3,8", 3 },
		{ "8,1-2,2-3", "1-3,8", 4 }, { "5-5", "5", 1 }, { "1023", "1023", 1 },
	};
	char text[64];
	cpu_set_t cpus;

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		assert_int_equal(cpus_parse(cases[i].list, &cpus), 0);
		assert_int_equal(CPU_COUNT(&cpus), cases[i].count);
		cpus_format(&cpus, text, sizeof(text));
		assert_string_equal(text, cases[i].same);
	}
}

TEST(what_is_no_list_is_refused)
{
	static const char *const cases[] = {
		"", ",", "1,", "-1", "1-", "3-1", "1 ", " 1", "+1", "a", "1-2-3", "1024",
		"0-99999999999999999999", "0x1",
	};
	cpu_set_t cpus;

	for (size_t i = 0; i < COUNT_OF(cases); i++)
		assert_int_equal(cpus_parse(cases[i], &cpus), -1);
}

TEST(a_long_list_is_cut)
{
	char text[8] = "xxxxxxx";
	cpu_set_t cpus;

	assert_int_equal(cpus_parse("100,102,104", &cpus), 0);
	cpus_format(&cpus, text, 6);
	assert_string_equal(text, "100,1");
	assert_int_equal(text[6], 'x');
}

RUN_TESTS(NULL, NULL)
