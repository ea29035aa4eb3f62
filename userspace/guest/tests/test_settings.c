// SPDX-License-Identifier: GPL-2.0
/* Settings reach the files that stand for the kernel's, and what is refused is named. */
#include <errno.h>
#include <fcntl.h>

#include "fake_guest.h"
#include "../settings.h"

static const char *const directories[] = {
	"/sys", "/sys/kernel", "/sys/kernel/debug", "/sys/kernel/debug/sched",
	"/sys/kernel/debug/sched/fast",
};
static const char *const files[] = {
	"/sys/kernel/debug/sched/fast/policy", "/sys/kernel/debug/sched/features",
	"/sys/kernel/debug/sched/confine",
};

static int make_tree(UNIT_STATE)
{
	make_directories(directories, COUNT_OF(directories));
	for (size_t i = 0; i < COUNT_OF(files); i++)
		close(open(at(files[i]), O_CREAT | O_WRONLY, 0600));
	return 0;
}

static int remove_tree(UNIT_STATE)
{
	return remove_all(files, COUNT_OF(files), directories, COUNT_OF(directories));
}

static const char *content(const char *path)
{
	static char text[256];
	FILE *file = fopen(at(path), "r");
	size_t size = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

	text[size] = '\0';
	if (file)
		fclose(file);
	return text;
}

TEST(sets_what_is_asked)
{
	const struct settings settings = {
		.of = { { files[0], "strict" }, { files[1], "NEXT_BUDDY" } },
		.n = 2,
	};

	assert_true(settings_apply(&settings, root));
	assert_string_equal(content(files[0]), "strict");
	assert_string_equal(content(files[1]), "NEXT_BUDDY");
	assert_true(!*said);
}

TEST(names_what_is_refused)
{
	const struct settings none = { .of = { { "/sys/no", "1" } }, .n = 1 };
	const struct settings feature = { .of = { { files[1], "NO_SUCH" } }, .n = 1 };

	assert_true(!settings_apply(&none, root));
	assert_true(!strcmp(said, "FAST err init: cannot set /sys/no to 1: "
			    "No such file or directory\n"));
	*said = '\0';
	/* Opened, but the kernel knows no such feature: a device that refuses stands for it. */
	unlink(at(files[1]));
	assert_true(!symlink("/dev/full", at(files[1])));
	assert_true(!settings_apply(&feature, root));
	assert_true(strstr(said, "NO_SUCH: No space left on device\n"));
}

TEST(confines)
{
	assert_true(settings_confine(0, root));
	assert_true(!*content(files[2]));
	assert_true(settings_confine(1, root));
	assert_string_equal(content(files[2]), "0-0");
	assert_true(settings_confine(16, root));
	assert_string_equal(content(files[2]), "0-15");

	/* A kernel that cannot. */
	unlink(at(files[2]));
	errno = 0;
	assert_true(!settings_confine(1, root));
	assert_true(errno == ENOENT);
}

RUN_TESTS(make_tree, remove_tree)
