/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CPUs to oneself: a cpuset partition of cgroup v2, as Documentation/admin-guide/cgroup-v2.rst of
 * the kernel has it. All that is movable is moved off these CPUs while the partition is there;
 * interrupts and the threads that the kernel bound to them are not.
 *
 * A process of its own takes the partition back when partition_close() is called, or when the
 * calling process has ended in any way, also by SIGKILL: else a part of the machine would lie idle.
 */
#ifndef FAST_COUNTERS_PARTITION_H
#define FAST_COUNTERS_PARTITION_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The cgroup file system, which the tests replace. All set errno; 0 or -1, and @read how much. */
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
	pid_t keeper;	/* 0: there is no partition */
	int lifeline;	/* the keeper waits for its other end to close */
};

/*
 * Takes the CPUs of @list. 0, or -1: there is nothing to be closed, and @why says why it cannot
 * be, in a few words.
 */
int partition_open(struct partition *partition, const struct partition_os *os, const char *list,
		   char *why, size_t size);

/* Moves a process, and whatever it will start, onto them. 0, or -1 with errno. */
int partition_enter(const struct partition *partition, pid_t pid);

/*
 * Gives them back, and waits for that. What still runs there goes to the root cgroup. -1: the cgroup
 * could not be removed.
 */
int partition_close(struct partition *partition);

#endif
