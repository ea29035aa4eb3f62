// SPDX-License-Identifier: GPL-2.0
/* What keeps the scheduler from being loaded is said before libbpf or the kernel would. */
#include <bpf/btf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"
#include "../why_not.h"

static char root[] = "/tmp/scx-XXXXXX";
static const char *const directories[] = { "/kernel", "/kernel/sched_ext", "/kernel/btf" };
static const char *const files[] = { "/kernel/sched_ext/state", "/kernel/btf/vmlinux" };

static const char *at(const char *path)
{
	static char whole[256];

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	return whole;
}

static void write_file(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(at(path), "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

/* A kernel whose hook, if it is named, points to structures of those names. */
static void write_types(const char *hook, const char *first, const char *second)
{
	struct btf *btf = btf__new_empty();
	int one = btf__add_ptr(btf, btf__add_struct(btf, first, 8));
	int two = btf__add_ptr(btf, btf__add_struct(btf, second, 8));
	const void *bytes;
	uint32_t size;

	if (hook) {
		int function = btf__add_func_proto(btf, 0);

		btf__add_func_param(btf, "wake_q", one);
		btf__add_func_param(btf, "q", two);
		assert_true(btf__add_func(btf, hook, BTF_FUNC_STATIC, function) > 0);
	}
	bytes = btf__raw_data(btf, &size);
	write_file(files[1], bytes, size);
	btf__free(btf);
}

static int make_kernel(UNIT_STATE)
{
	assert_non_null(mkdtemp(root));
	for (size_t i = 0; i < COUNT_OF(directories); i++)
		assert_int_equal(mkdir(at(directories[i]), 0700), 0);
	write_file(files[0], "disabled\n", 9);
	write_types("futex_wake_mark", "wake_q_head", "futex_q");
	return 0;
}

static int remove_kernel(UNIT_STATE)
{
	for (size_t i = 0; i < COUNT_OF(files); i++)
		unlink(at(files[i]));
	for (size_t i = COUNT_OF(directories); i--;)
		rmdir(at(directories[i]));
	return rmdir(root);
}

static void assert_reason(const char *words)
{
	const char *reason = why_not(root);

	assert_non_null(reason);
	if (!strstr(reason, words))
		fail_msg("'%s' does not say '%s'", reason, words);
}

TEST(a_kernel_that_can)
{
	if (geteuid())
		assert_reason("root");
	else
		assert_null(why_not(root));
}

TEST(a_kernel_without_sched_ext)
{
	unlink(at(files[0]));
	assert_reason("CONFIG_SCHED_CLASS_EXT");
	write_file(files[0], "disabled\n", 9);
}

TEST(a_second_scheduler)
{
	write_file(files[0], "enabled\n", 8);
	assert_reason("another sched_ext scheduler");
	write_file(files[0], "disabled\n", 9);
}

TEST(a_kernel_without_types)
{
	unlink(at(files[1]));
	assert_reason("CONFIG_DEBUG_INFO_BTF");
}

TEST(a_kernel_without_the_hook)
{
	write_types(NULL, "wake_q_head", "futex_q");
	assert_reason("no futex_wake_mark()");
}

TEST(a_hook_with_other_arguments)
{
	write_types("futex_wake_mark", "futex_q", "wake_q_head");
	assert_reason("too old for it");
	write_types("futex_wake_mark", "wake_q_head", "futex_qs");
	assert_reason("too old for it");
}

TEST(beside_busy_cpus_it_says_so)
{
	static const char before[] = "cpu 100 0 100 1000 50 0 0 0 0 0";

	assert_false(are_busy(before, before));
	assert_false(are_busy(before, "cpu 120 0 104 1060 66 0 0 0 0 0"));
	assert_true(are_busy(before, "cpu 120 0 106 1060 64 0 0 0 0 0"));
	assert_true(are_busy(before, "cpu 100 50 100 1000 50 0 0 0 0 0"));
	assert_false(are_busy("", "cpu 100 50 100 1000 50"));
	assert_null(why_not_beside("/nowhere"));
}

RUN_TESTS(make_kernel, remove_kernel)
