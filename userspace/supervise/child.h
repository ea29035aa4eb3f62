/* SPDX-License-Identifier: GPL-2.0 */
/* The measured program: a process that waits before it executes it. */
#ifndef FAST_SUPERVISE_CHILD_H
#define FAST_SUPERVISE_CHILD_H

#include <sys/types.h>

struct child {
	pid_t pid;
	int pidfd;	/* readable when it has ended */
	int go;		/* closed without a byte: the process ends */
	int failed;	/* receives the errno of its execvp(), which closes it on success */
};

int child_start(struct child *child, char **argv);

/* Lets it execute the program. Returns 0, or the errno of the failure. */
int child_go(struct child *child);

/* Ends a child instead of child_go(). */
void child_drop(struct child *child);

/* Waits for its end; returns its wait status, or -1 with errno. */
int child_wait(struct child *child);

/*
 * The text of a process's /proc/PID/maps, to be freed; complete if its threads are stopped. NULL:
 * the process has ended, or there is no memory.
 */
char *process_maps(pid_t pid);

#endif
