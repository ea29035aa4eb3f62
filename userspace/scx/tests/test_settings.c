// SPDX-License-Identifier: GPL-2.0
/* CPUs are listed by the last level cache that they share. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"
#include "../scheduler.h"

static char root[] = "/tmp/scx-XXXXXX";
static struct settings settings;

static void make_list(int cpu, const char *name, const char *cpus)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/devices/system/cpu/cpu%d/%s", root, cpu, name);
	for (char *slash = path + sizeof(root); (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "%s\n", cpus);
	fclose(file);
}

/*
 * Two sockets; CPUs are numbered across them, and two of a core lie four apart. A machine with one
 * CPU has one cache of it.
 */
SET_UP
{
	assert_non_null(mkdtemp(root));
	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++) {
		char core[16];

		snprintf(core, sizeof(core), "%d,%d", cpu % 4, cpu % 4 + 4);
		make_list(cpu, "cache/index0/shared_cpu_list", "0-63");
		make_list(cpu, "cache/index1/shared_cpu_list", cpu % 2 ? "1,3,5,7" : "0,2,4,6");
		make_list(cpu, "topology/thread_siblings_list", core);
	}
	settings_of_machine(&settings, root);
	return 0;
}

TEAR_DOWN
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

FIXTURE_TEST(lists_cpus_by_cache)
{
	const unsigned int cpus = (unsigned int)settings.nr_cpus, even = (cpus + 1) / 2;

	assert_int_equal(settings.nr_cpus, sysconf(_SC_NPROCESSORS_CONF));
	for (unsigned int i = 0; i < cpus; i++) {
		const unsigned int cpu = settings.cpus[i];

		assert_int_equal(cpu, i < even ? 2 * i : 2 * (i - even) + 1);
		assert_int_equal(settings.llc_first[cpu], cpu % 2 ? even : 0);
		assert_int_equal(settings.llc_end[cpu], cpu % 2 ? cpus : even);
		assert_int_equal(settings.sibling[cpu], cpu < 4 ? cpu + 4 : cpu % 4);
	}
	assert_true(settings.slice_ns >= 700000);
	assert_true(settings.slice_ns <= 2800000);
}

TEST(a_machine_that_tells_no_cache_has_one)
{
	settings_of_machine(&settings, "/nowhere");
	assert_int_equal(settings.llc_first[settings.nr_cpus - 1], 0);
	assert_int_equal(settings.llc_end[0], settings.nr_cpus);
	assert_int_equal(settings.sibling[0], 0);
}

RUN_TESTS(NULL, NULL)
