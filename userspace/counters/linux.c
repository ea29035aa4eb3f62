// SPDX-License-Identifier: GPL-2.0
/* The kernel of the functions in counters.h, outside of tests. */
#include <limits.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counters.h"

static int linux_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, group, PERF_FLAG_FD_CLOEXEC);
}

static int linux_ioctl(int fd, unsigned long request)
{
	return ioctl(fd, request, 0);
}

static int linux_paranoid(void)
{
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int level;

	/* No such file: no perf_event, which open() has already reported. */
	if (!file)
		return INT_MAX;
	if (fscanf(file, "%d", &level) != 1)
		level = INT_MAX;
	fclose(file);
	return level;
}

static bool linux_hybrid(void)
{
	return access("/sys/bus/event_source/devices/cpu_core", F_OK) == 0;
}

const struct counters_os counters_linux = {
	.open = linux_open,
	.read = read,
	.ioctl = linux_ioctl,
	.close = close,
	.paranoid = linux_paranoid,
	.hybrid = linux_hybrid,
};
