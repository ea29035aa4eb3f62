// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * /proc/self/cgroup names the cgroup of the process in each hierarchy. /proc/self/mountinfo says
 * where a hierarchy is mounted and which of its cgroups is at the mount point: a container sees its
 * own there, and may not see the outer ones.
 */
#include "cgroup.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `list` is separated by commas. */
static bool has_word(const char *list, const char *word)
{
	const size_t length = strlen(word);

	for (; list; list = strchr(list, ','), list = list ? list + 1 : NULL)
		if (!strncmp(list, word, length) && (!list[length] || list[length] == ','))
			return true;
	return false;
}

/* The cgroup in version 2's hierarchy, or in the one with the CPU controller. */
static bool find_cgroup(const char *root, bool version2, char path[PATH_MAX])
{
	char name[PATH_MAX], *line = NULL;
	bool found = false;
	size_t room = 0;
	FILE *file;

	snprintf(name, sizeof(name), "%s/proc/self/cgroup", root);
	file = fopen(name, "re");
	if (!file)
		return false;
	/* NUMBER:CONTROLLERS:PATH; version 2 has no controllers */
	while (!found && getline(&line, &room, file) > 0) {
		char *controllers = strchr(line, ':');
		char *cgroup = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!cgroup)
			continue;
		*controllers++ = *cgroup++ = '\0';
		cgroup[strcspn(cgroup, "\n")] = '\0';
		found = version2 ? !*controllers : has_word(controllers, "cpu");
		if (found)
			snprintf(path, PATH_MAX, "%s", cgroup);
	}
	free(line);
	fclose(file);
	return found;
}

/* Rounded up; 0: no quota. */
static unsigned int in_cpus(long long quota, long long period)
{
	if (quota <= 0 || period <= 0 || quota / period >= UINT_MAX)
		return 0;
	return (unsigned int)((quota - 1) / period) + 1;
}

static long long read_number(const char *directory, const char *name)
{
	char path[PATH_MAX + 32];
	long long number = -1;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "re");
	if (!file)
		return -1;
	if (fscanf(file, "%lld", &number) != 1)
		number = -1;
	fclose(file);
	return number;
}

static unsigned int quota_at(const char *directory, bool version2)
{
	long long quota = -1, period = -1;
	char path[PATH_MAX + 32];
	FILE *file;

	if (!version2)
		return in_cpus(read_number(directory, "cpu.cfs_quota_us"),
			       read_number(directory, "cpu.cfs_period_us"));
	snprintf(path, sizeof(path), "%s/cpu.max", directory);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%lld %lld", &quota, &period) != 2)
		quota = -1;
	fclose(file);
	return in_cpus(quota, period);
}

static unsigned int lesser(unsigned int one, unsigned int other)
{
	return !one || (other && other < one) ? other : one;
}

/* Of a mount whose root directory is the cgroup `top`. */
static unsigned int quota_of_mount(const char *root, const char *point, const char *top,
				   bool version2)
{
	char cgroup[PATH_MAX], directory[2 * PATH_MAX];
	const size_t depth = strcmp(top, "/") ? strlen(top) : 0;
	unsigned int cpus;
	size_t base;

	if (!find_cgroup(root, version2, cgroup))
		return 0;
	base = (size_t)snprintf(directory, sizeof(directory), "%s%s", root, point);
	/* A cgroup that is not below `top` is not visible: use `top`. */
	if (!strncmp(cgroup, top, depth) && (!cgroup[depth] || cgroup[depth] == '/'))
		snprintf(directory + base, sizeof(directory) - base, "%s", cgroup + depth);
	cpus = quota_at(directory, version2);
	while (strlen(directory) > base) {
		*strrchr(directory, '/') = '\0';
		cpus = lesser(cpus, quota_at(directory, version2));
	}
	return cpus;
}

/* NUMBER PARENT DEVICE TOP POINT OPTIONS [FIELDS] - TYPE SOURCE OPTIONS */
static unsigned int quota_of_line(const char *root, char *line)
{
	char *rest = strstr(line, " - "), *words = NULL, *top, *point, *type, *options;

	if (!rest)
		return 0;
	*rest = '\0';
	for (int i = 0; i < 3; i++)
		strtok_r(i ? NULL : line, " ", &words);
	top = strtok_r(NULL, " ", &words);
	point = strtok_r(NULL, " ", &words);
	type = strtok_r(rest + 3, " ", &words);
	strtok_r(NULL, " ", &words);
	options = strtok_r(NULL, " \n", &words);
	if (!top || !point || !type || !options)
		return 0;
	if (!strcmp(type, "cgroup2"))
		return quota_of_mount(root, point, top, true);
	if (!strcmp(type, "cgroup") && has_word(options, "cpu"))
		return quota_of_mount(root, point, top, false);
	return 0;
}

unsigned int ivl_cgroup_cpus(const char *root)
{
	char name[PATH_MAX], *line = NULL;
	unsigned int cpus = 0;
	size_t room = 0;
	FILE *file;

	snprintf(name, sizeof(name), "%s/proc/self/mountinfo", root);
	file = fopen(name, "re");
	if (!file)
		return 0;
	while (getline(&line, &room, file) > 0)
		cpus = lesser(cpus, quota_of_line(root, line));
	free(line);
	fclose(file);
	return cpus;
}
