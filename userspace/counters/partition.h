/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CPUs for one program alone: a cpuset partition of cgroup v2 (the kernel's
 * Documentation/admin-guide/cgroup-v2.rst). While the partition exists, the kernel moves all
 * threads off these CPUs but those that it has bound there; interrupts stay.
 *
 * A process of its own, the keeper, removes the partition when partition_close() is called, or
 * when the calling process has ended in any way, even by SIGKILL: else a part of the machine
 * would be idle.
 */
#ifndef FAST_COUNTERS_PARTITION_H
#define FAST_COUNTERS_PARTITION_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * The cgroup file system, which tests replace. All return 0, or -1 with errno; @read: the length.
 */
struct partition_os {
	const char *root;
	bool (*unified)(const char *root);	/* is that cgroup v2? */
	int (*make)(const char *directory);
	int (*remove)(const char *directory);
	int (*write)(const char *file, const char *text);
	ssize_t (*read)(const char *file, char *text, size_t size);
};

extern const struct partition_os partition_linux;

struct partition {
	const struct partition_os *os;
	char group[256];
	pid_t keeper;	/* 0: no partition */
	int lifeline;	/* the keeper waits for its other end to close */
};

/*
 * Takes the CPUs of @list. Returns 0, or -1 with the reason in @why; then there is nothing to
 * close.
 */
int partition_open(struct partition *partition, const struct partition_os *os, const char *list,
		   char *why, size_t size);

/* Moves a process and its future children onto them. Returns 0, or -1 with errno. */
int partition_enter(const struct partition *partition, pid_t pid);

/*
 * Gives the CPUs back, and waits for that. Processes that still run there go to the root cgroup.
 * Returns 0, or -1: the cgroup could not be removed.
 */
int partition_close(struct partition *partition);

#endif
