// SPDX-License-Identifier: GPL-2.0
/* The cgroup file system of the functions in partition.h, outside of tests. */
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "partition.h"

static bool linux_unified(const char *root)
{
	struct statfs found;

	return !statfs(root, &found) && found.f_type == CGROUP2_SUPER_MAGIC;
}

static int linux_make(const char *directory)
{
	return mkdir(directory, 0755);
}

static int linux_write(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = write(fd, text, strlen(text));
	close(fd);
	return n < 0 ? -1 : 0;
}

static ssize_t linux_read(const char *file, char *text, size_t size)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, text, size);
	close(fd);
	return n;
}

const struct partition_os partition_linux = {
	.root = "/sys/fs/cgroup",
	.unified = linux_unified,
	.make = linux_make,
	.remove = rmdir,
	.write = linux_write,
	.read = linux_read,
};
