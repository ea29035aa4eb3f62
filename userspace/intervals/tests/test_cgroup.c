// SPDX-License-Identifier: LGPL-2.1-or-later
/* Quotas of CPU time, read from files below a directory. */
#include "test.h"

#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>

#include "cgroup.h"

static char root[] = "/tmp/test-cgroup-XXXXXX";

/* And its directories. */
static void write_file(const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s%s", root, name);
	for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		assert_true(!mkdir(path, 0700) || errno == EEXIST);
		*slash = '/';
	}
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static int delete(const char *path, const struct stat *status, int kind, struct FTW *where)
{
	return where->level ? remove(path) : 0;
}

static int clear(void **state)
{
	return nftw(root, delete, 16, FTW_DEPTH | FTW_PHYS);
}

static void write_process(const char *cgroup, const char *mountinfo)
{
	write_file("/proc/self/cgroup", cgroup);
	write_file("/proc/self/mountinfo", mountinfo);
}

#define OTHER_MOUNT "22 1 0:21 / /proc rw,nosuid shared:5 - proc proc rw\n"
#define VERSION_2 OTHER_MOUNT "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"
#define VERSION_1 OTHER_MOUNT \
	"31 23 0:27 / /sys/fs/cgroup/cpuset rw shared:9 - cgroup cgroup rw,cpuset\n" \
	"32 23 0:28 / /sys/fs/cgroup/cpu,cpuacct rw shared:10 - cgroup cgroup rw,cpu,cpuacct\n"

static void test_version_2(void **state)
{
	static const struct {
		const char *text;
		unsigned int cpus;
	} limits[] = {
		{ "max 100000\n", 0 }, { "200000 100000\n", 2 }, { "200001 100000\n", 3 },
		{ "150000 100000\n", 2 }, { "1000 100000\n", 1 }, { "50000 10000\n", 5 },
		{ "", 0 }, { "100000", 0 }, { "words", 0 }, { "100000 0\n", 0 },
		{ "-1 100000\n", 0 }, { "9000000000000000000 1\n", 0 },
	};

	write_process("0::/user.slice/session\n", VERSION_2);
	assert_int_equal(ivl_cgroup_cpus(root), 0);
	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		write_file("/sys/fs/cgroup/user.slice/session/cpu.max", limits[i].text);
		assert_int_equal(ivl_cgroup_cpus(root), limits[i].cpus);
	}
}

/* The least of the enclosing cgroups. */
static void test_around(void **state)
{
	write_process("0::/a/b/c\n", VERSION_2);
	write_file("/sys/fs/cgroup/a/b/c/cpu.max", "800000 100000\n");
	assert_int_equal(ivl_cgroup_cpus(root), 8);
	write_file("/sys/fs/cgroup/a/cpu.max", "300000 100000\n");
	assert_int_equal(ivl_cgroup_cpus(root), 3);
	write_file("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
	write_file("/sys/fs/cgroup/a/b/x/cpu.max", "100000 100000\n");
	assert_int_equal(ivl_cgroup_cpus(root), 3);
	write_file("/sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n");
	assert_int_equal(ivl_cgroup_cpus(root), 3);
	/* A container that sees its own cgroup as the root. */
	write_file("/sys/fs/cgroup/cpu.max", "200000 100000\n");
	assert_int_equal(ivl_cgroup_cpus(root), 2);
	write_process("0::/\n", VERSION_2);
	assert_int_equal(ivl_cgroup_cpus(root), 2);
}

static void write_number(const char *cgroup, const char *name, int number)
{
	char path[128], text[16];

	snprintf(path, sizeof(path), "%s/%s", cgroup, name);
	snprintf(text, sizeof(text), "%d\n", number);
	write_file(path, text);
}

/* Of version 1. */
static void write_quota(const char *cgroup, int quota, int period)
{
	write_number(cgroup, "cpu.cfs_quota_us", quota);
	write_number(cgroup, "cpu.cfs_period_us", period);
}

static void test_version_1(void **state)
{
	write_process("3:cpuset:/a\n2:cpu,cpuacct:/a/b\n1:name=systemd:/c\n0::/c\n", VERSION_1);
	assert_int_equal(ivl_cgroup_cpus(root), 0);
	write_quota("/sys/fs/cgroup/cpu,cpuacct/a/b", -1, 100000);
	assert_int_equal(ivl_cgroup_cpus(root), 0);
	write_number("/sys/fs/cgroup/cpu,cpuacct/a/b", "cpu.cfs_quota_us", 250000);
	assert_int_equal(ivl_cgroup_cpus(root), 3);
	/* Not a quota of this hierarchy. */
	write_quota("/sys/fs/cgroup/cpuset/a", 100000, 100000);
	assert_int_equal(ivl_cgroup_cpus(root), 3);
	write_quota("/sys/fs/cgroup/cpu,cpuacct/a", 100000, 50000);
	assert_int_equal(ivl_cgroup_cpus(root), 2);
}

/* A container that sees the whole path, but has its own cgroup alone mounted. */
static void test_own_cgroup_mounted(void **state)
{
	static const char mounted[] = "32 23 0:28 /docker/123 /sys/fs/cgroup/cpu ro,nosuid "
				      "master:11 - cgroup cgroup rw,cpu\n";

	write_process("4:cpu:/docker/123/inner\n", mounted);
	write_quota("/sys/fs/cgroup/cpu", 400000, 100000);
	assert_int_equal(ivl_cgroup_cpus(root), 4);
	write_quota("/sys/fs/cgroup/cpu/inner", 100000, 100000);
	assert_int_equal(ivl_cgroup_cpus(root), 1);
	/* Not below it, although the path begins alike. */
	write_process("4:cpu:/docker/1234/inner\n", mounted);
	assert_int_equal(ivl_cgroup_cpus(root), 4);
}

static void test_nothing_there(void **state)
{
	assert_int_equal(ivl_cgroup_cpus(root), 0);
	write_file("/proc/self/mountinfo", VERSION_2);
	assert_int_equal(ivl_cgroup_cpus(root), 0);
	write_process("no colons\n1:cpu\n", "no fields\n1 2 - \n - cgroup2 a b\n" VERSION_1);
	assert_int_equal(ivl_cgroup_cpus(root), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_version_2, clear),
		cmocka_unit_test_teardown(test_around, clear),
		cmocka_unit_test_teardown(test_version_1, clear),
		cmocka_unit_test_teardown(test_own_cgroup_mounted, clear),
		cmocka_unit_test_teardown(test_nothing_there, clear),
	};
	int failed;

	if (!mkdtemp(root)) {
		perror(root);
		return EXIT_FAILURE;
	}
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(root);
	return failed;
}
