// SPDX-License-Identifier: GPL-2.0
#include "partition.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* A killed process leaves its cgroup when its memory is freed. */
#define PATIENCE 200
#define GLANCE_US 10000

static void path_of(const struct partition *p, const char *file, char *path, size_t size)
{
	snprintf(path, size, "%s/%s", p->group, file);
}

static int put(const struct partition *p, const char *file, const char *text)
{
	char path[320];

	path_of(p, file, path, sizeof(path));
	return p->os->write(path, text);
}

/* The first line, and "" where there is none. */
static void get(const struct partition_os *os, const char *path, char *text, size_t size)
{
	ssize_t n = os->read(path, text, size - 1);

	text[n < 0 ? 0 : n] = '\0';
	text[strcspn(text, "\n")] = '\0';
}

/* Moves each process of the partition to the root cgroup: any cgroup below may be gone. */
static void move_out(const struct partition *p)
{
	char procs[320], home[320], pid[32];

	path_of(p, "cgroup.procs", procs, sizeof(procs));
	snprintf(home, sizeof(home), "%s/cgroup.procs", p->os->root);
	for (int i = 0; i < PATIENCE; i++) {
		get(p->os, procs, pid, sizeof(pid));
		if (!*pid || p->os->write(home, pid))
			return;
	}
}

static int take_back(const struct partition *p)
{
	for (int i = 0; i < PATIENCE; i++) {
		move_out(p);
		if (!p->os->remove(p->group) || errno == ENOENT)
			return 0;
		usleep(GLANCE_US);
	}
	/* The cgroup stays, but all programs may use its CPUs again. */
	put(p, "cpuset.cpus.partition", "member");
	return -1;
}

/* Signals to the process group, such as ^C, do not reach the keeper. */
_Noreturn static void keep(const struct partition *p, int lifeline)
{
	sigset_t all;
	char c;

	setsid();
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	/* A reader of the program's output must not wait for the keeper to close it. */
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	/* From now on no signal ends the keeper: the CPUs may be taken. */
	if (write(lifeline, "", 1) == 1)
		while (read(lifeline, &c, 1) < 0 && errno == EINTR)
			;
	_exit(take_back(p) ? 1 : 0);
}

static int start_keeper(struct partition *p)
{
	int ends[2];
	char c;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -1;
	p->keeper = fork();
	if (p->keeper == 0) {
		close(ends[1]);
		keep(p, ends[0]);
	}
	close(ends[0]);
	p->lifeline = ends[1];
	if (p->keeper < 0) {
		close(p->lifeline);
		return -1;
	}
	if (read(p->lifeline, &c, 1) == 1)
		return 0;
	/* The keeper has ended. */
	partition_close(p);
	errno = ESRCH;
	return -1;
}

/* The kernel accepts any set, and the file then says whether it is a partition. */
static int become_partition(const struct partition *p, char *why, size_t size)
{
	char path[320], state[128];

	if (put(p, "cpuset.cpus.partition", "root")) {
		snprintf(why, size, "the kernel makes no partition of them: %s", strerror(errno));
		return -1;
	}
	path_of(p, "cpuset.cpus.partition", path, sizeof(path));
	get(p->os, path, state, sizeof(state));
	if (!strcmp(state, "root"))
		return 0;
	snprintf(why, size, "the kernel makes no partition of them: %s", state);
	return -1;
}

static int make(struct partition *p, const char *list, char *why, size_t size)
{
	if (p->os->make(p->group)) {
		snprintf(why, size, "%s cannot be made: %s", p->group, strerror(errno));
		return -1;
	}
	if (put(p, "cpuset.cpus", list)) {
		snprintf(why, size, "%s/cpuset.cpus cannot be set: %s", p->group, strerror(errno));
		return -1;
	}
	return become_partition(p, why, size);
}

int partition_open(struct partition *p, const struct partition_os *os, const char *list, char *why,
		   size_t size)
{
	char path[320], controllers[256];

	*p = (struct partition){ .os = os };
	if (!os->unified(os->root)) {
		snprintf(why, size, "cgroup v2 is not mounted at %s", os->root);
		return -1;
	}
	snprintf(path, sizeof(path), "%s/cgroup.subtree_control", os->root);
	get(os, path, controllers, sizeof(controllers));
	if (!strstr(controllers, "cpuset")) {
		snprintf(why, size, "%s has no cpuset (as root: echo +cpuset > %s)", path, path);
		return -1;
	}
	snprintf(p->group, sizeof(p->group), "%s/fast-stat-%d", os->root, (int)getpid());
	if (start_keeper(p)) {
		snprintf(why, size, "no process to give them back: %s", strerror(errno));
		return -1;
	}
	if (!make(p, list, why, size))
		return 0;
	partition_close(p);
	return -1;
}

int partition_enter(const struct partition *p, pid_t pid)
{
	char text[32];

	snprintf(text, sizeof(text), "%d", (int)pid);
	return put(p, "cgroup.procs", text);
}

int partition_close(struct partition *p)
{
	pid_t pid;
	int status;

	if (p->keeper <= 0)
		return 0;
	close(p->lifeline);
	do
		pid = waitpid(p->keeper, &status, 0);
	while (pid < 0 && errno == EINTR);
	p->keeper = 0;
	return pid < 0 || status ? -1 : 0;
}
