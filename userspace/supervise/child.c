// SPDX-License-Identifier: GPL-2.0
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

_Noreturn static void become(char **argv, int go, int failed)
{
	char c;
	int number;

	/*
	 * A program that is no longer measured would disturb the next measurement. If
	 * the parent has ended already, the pipe shows it.
	 */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (read(go, &c, 1) != 1)
		_exit(1);
	execvp(argv[0], argv);
	number = errno;
	/* The parent takes anything shorter than a number for success. */
	if (write(failed, &number, sizeof(number)) != sizeof(number))
		_exit(1);
	_exit(0);
}

int child_start(struct child *child, char **argv)
{
	int go[2], failed[2];

	if (pipe2(go, O_CLOEXEC))
		return -1;
	if (pipe2(failed, O_CLOEXEC))
		goto close_go;
	child->pid = fork();
	if (child->pid < 0)
		goto close_failed;
	if (child->pid == 0) {
		close(go[1]);
		become(argv, go[0], failed[1]);
	}
	close(go[0]);
	close(failed[1]);
	child->go = go[1];
	child->failed = failed[0];
	child->pidfd = pidfd_open(child->pid, 0);
	if (child->pidfd < 0) {
		int number = errno;

		child_drop(child);
		errno = number;
		return -1;
	}
	return 0;

close_failed:
	close(failed[0]);
	close(failed[1]);
close_go:
	close(go[0]);
	close(go[1]);
	return -1;
}

int child_go(struct child *child)
{
	int number = 0;
	ssize_t n;

	/* EPIPE: it was killed, which child_wait() will report. */
	if (write(child->go, "", 1) != 1 && errno != EPIPE)
		return errno;
	close(child->go);
	do
		n = read(child->failed, &number, sizeof(number));
	while (n < 0 && errno == EINTR);
	close(child->failed);
	return n == sizeof(number) ? number : 0;
}

void child_drop(struct child *child)
{
	close(child->go);
	close(child->failed);
	child_wait(child);
}

int child_wait(struct child *child)
{
	int status = 0;
	pid_t pid;

	do
		pid = waitpid(child->pid, &status, 0);
	while (pid < 0 && errno == EINTR);
	close(child->pidfd);
	return pid < 0 ? -1 : status;
}

char *process_maps(pid_t pid)
{
	char path[32], *maps = NULL;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return NULL;
	/* It is empty once the process has ended. */
	if (getdelim(&maps, &size, '\0', file) < 1) {
		free(maps);
		maps = NULL;
	}
	fclose(file);
	return maps;
}
