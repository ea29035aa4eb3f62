/* SPDX-License-Identifier: GPL-2.0 */
/* A tree of files that stand for the guest's, and what the guest would tell the host. */
#ifndef GUEST_FAKE_GUEST_H
#define GUEST_FAKE_GUEST_H

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"
#include "../frame.h"

static char root[] = "/tmp/guest-XXXXXX";
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

static void make_directories(const char *const *paths, size_t n)
{
	assert_true(mkdtemp(root));
	for (size_t i = 0; i < n; i++)
		assert_true(!mkdir(at(paths[i]), 0700));
}

static int remove_all(const char *const *files, size_t file_count, const char *const *directories,
		      size_t n)
{
	for (size_t i = 0; i < file_count; i++)
		unlink(at(files[i]));
	while (n--)
		rmdir(at(directories[n]));
	return rmdir(root);
}

#endif
