/* SPDX-License-Identifier: GPL-2.0 */
/* The counted program: a process that waits until it may become it. */
#ifndef FAST_SUPERVISE_CHILD_H
#define FAST_SUPERVISE_CHILD_H

#include <sys/types.h>

struct child {
	pid_t pid;
	int pidfd;	/* readable when it has ended */
	int go;		/* closed without a byte: it ends instead */
	int failed;	/* the errno of its execvp(), or closed by it */
};

int child_start(struct child *child, char **argv);

/* Lets it become the program. Returns 0, or the errno for which it could not. */
int child_go(struct child *child);

/* Ends a child that may not go. */
void child_drop(struct child *child);

/* Waits for its end; returns its wait status, or -1 with errno: nobody can tell it. */
int child_wait(struct child *child);

#endif
