// SPDX-License-Identifier: GPL-2.0
#include "settings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "frame.h"

static bool write_setting(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool written;

	if (fd < 0)
		return false;
	written = write(fd, value, strlen(value)) >= 0;
	close(fd);
	return written;
}

static bool set_fast(const struct setting *setting, const char *root)
{
	char path[256];

	snprintf(path, sizeof(path), "%s" SETTINGS_FAST "/%s", root, setting->name);
	if (write_setting(path, setting->value))
		return true;
	frame_line("err init: cannot set sched/fast/%s to %s: %s", setting->name, setting->value,
		   strerror(errno));
	return false;
}

static bool set_feature(const char *name, const char *root)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/sys/kernel/debug/sched/features", root);
	if (write_setting(path, name))
		return true;
	frame_line("err init: cannot set scheduler feature %s: %s", name, strerror(errno));
	return false;
}

bool settings_apply(const struct job *job, const char *root)
{
	for (size_t i = 0; i < job->n_fast; i++) {
		if (!set_fast(&job->fast[i], root))
			return false;
	}
	for (size_t i = 0; i < job->n_features; i++) {
		if (!set_feature(job->features[i], root))
			return false;
	}
	return true;
}

bool settings_confine(unsigned int cpus, const char *root)
{
	char path[256], list[16];

	if (!cpus)
		return true;
	snprintf(path, sizeof(path), "%s" SETTINGS_CONFINE, root);
	snprintf(list, sizeof(list), "0-%u", cpus - 1);
	return write_setting(path, list);
}
