// SPDX-License-Identifier: GPL-2.0
/* Settings reach the files that stand for the kernel's, and what is refused is named. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "../frame.h"
#include "../settings.h"

static char root[] = "/tmp/settings-XXXXXX";
static char said[4096];
void frame_emit(const char *bytes, size_t size)
{
	strncat(said, bytes, size);
}

static const char *at(const char *path)
{
	static char whole[256];

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	return whole;
}

static const char *const directories[] = {
	"/sys", "/sys/kernel", "/sys/kernel/debug", "/sys/kernel/debug/sched",
	"/sys/kernel/debug/sched/fast",
};
static const char *const files[] = {
	"/sys/kernel/debug/sched/fast/policy", "/sys/kernel/debug/sched/features",
	"/sys/kernel/debug/sched/confine",
};

static void make_tree(void)
{
	CHECK(mkdtemp(root));
	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++)
		CHECK(!mkdir(at(directories[i]), 0700));
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		close(open(at(files[i]), O_CREAT | O_WRONLY, 0600));
}

static void remove_tree(void)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		unlink(at(files[i]));
	for (size_t i = sizeof(directories) / sizeof(directories[0]); i--; )
		rmdir(at(directories[i]));
	rmdir(root);
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

static void sets_what_is_asked(void)
{
	const struct job job = {
		.fast = { { "policy", "strict" } },
		.n_fast = 1,
		.features = { "NEXT_BUDDY" },
		.n_features = 1,
	};

	CHECK(settings_apply(&job, root));
	CHECK(!strcmp(content(files[0]), "strict"));
	CHECK(!strcmp(content(files[1]), "NEXT_BUDDY"));
	CHECK(!*said);
}

static void names_what_is_refused(void)
{
	const struct job fast = { .fast = { { "no", "1" } }, .n_fast = 1 };
	const struct job feature = { .features = { "NO_SUCH" }, .n_features = 1 };

	CHECK(!settings_apply(&fast, root));
	CHECK(!strcmp(said, "FAST err init: cannot set sched/fast/no to 1: "
			    "No such file or directory\n"));
	*said = '\0';
	unlink(at(files[1]));
	CHECK(!settings_apply(&feature, root));
	CHECK(!strcmp(said, "FAST err init: cannot set scheduler feature NO_SUCH: "
			    "No such file or directory\n"));
	*said = '\0';
	/* Opened, but the kernel knows no such feature: a device that refuses stands for it. */
	CHECK(!symlink("/dev/full", at(files[1])));
	CHECK(!settings_apply(&feature, root));
	CHECK(strstr(said, "NO_SUCH: No space left on device\n"));
}

static void confines(void)
{
	CHECK(settings_confine(0, root));
	CHECK(!*content(files[2]));
	CHECK(settings_confine(1, root));
	CHECK(!strcmp(content(files[2]), "0-0"));
	CHECK(settings_confine(16, root));
	CHECK(!strcmp(content(files[2]), "0-15"));

	/* A kernel that cannot. */
	unlink(at(files[2]));
	errno = 0;
	CHECK(!settings_confine(1, root));
	CHECK(errno == ENOENT);
}

int main(void)
{
	make_tree();
	sets_what_is_asked();
	names_what_is_refused();
	confines();
	remove_tree();
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
