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

bool settings_apply(const struct settings *settings, const char *root)
{
	char path[512];

	for (size_t i = 0; i < settings->n; i++) {
		const struct setting *setting = &settings->of[i];

		snprintf(path, sizeof(path), "%s%s", root, setting->path);
		if (write_setting(path, setting->value))
			continue;
		frame_line("err init: cannot set %s to %s: %s", setting->path, setting->value,
			   strerror(errno));
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
