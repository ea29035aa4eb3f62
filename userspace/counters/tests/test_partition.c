// SPDX-License-Identifier: GPL-2.0
/* Partitions in a directory whose files behave like a cgroup file system. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "partition.h"

static char root[] = "/tmp/partition-XXXXXX";
static struct partition partition;
static char why[512];
static const char *denied;	/* the file, or directory, that may not be written */
static const char *state_said = "root\n";
static bool stuck;	/* a process is in it that does not leave */

static bool fake_unified(const char *directory)
{
	return !strcmp(directory, root);
}

static int put(const char *directory, const char *file, const char *text)
{
	char path[640];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", directory, file);
	out = fopen(path, "w");
	if (!out)
		return -1;
	fputs(text, out);
	return fclose(out);
}

static int fake_make(const char *directory)
{
	errno = EACCES;
	if (denied && strstr(directory, denied))
		return -1;
	if (mkdir(directory, 0755))
		return -1;
	return put(directory, "cpuset.cpus", "\n") ?: put(directory, "cpuset.cpus.partition",
							    "member\n") ?:
	       put(directory, "cgroup.procs", "");
}

static int fake_write(const char *path, const char *text)
{
	const char *file = strrchr(path, '/') + 1;
	char group[600];

	errno = EACCES;
	if (denied && !strcmp(file, denied))
		return -1;
	if (!strcmp(file, "cpuset.cpus.partition") && !strcmp(text, "root"))
		text = state_said;
	/* A process is in one place: in the root now, so no more in the partition. */
	if (!strncmp(path, root, strlen(root)) && strchr(path + strlen(root) + 1, '/') == NULL) {
		snprintf(group, sizeof(group), "%s/fast-stat-%d", root, (int)getppid());
		put(group, file, "");
	}
	snprintf(group, sizeof(group), "%.*s", (int)(file - path - 1), path);
	return put(group, file, text);
}

static ssize_t fake_read(const char *file, char *text, size_t size)
{
	int fd = open(file, O_RDONLY);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, text, size);
	close(fd);
	return n;
}

/* It may not be removed while there is a process in it. */
static int fake_remove(const char *directory)
{
	static const char *const files[] = {
		"cpuset.cpus", "cpuset.cpus.partition", "cgroup.procs",
	};
	char path[640], text[8];

	snprintf(path, sizeof(path), "%s/cgroup.procs", directory);
	if (stuck || fake_read(path, text, sizeof(text)) > 0) {
		errno = EBUSY;
		return -1;
	}
	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", directory, files[i]);
		unlink(path);
	}
	return rmdir(directory);
}

static struct partition_os fake = {
	.root = root,
	.unified = fake_unified,
	.make = fake_make,
	.remove = fake_remove,
	.write = fake_write,
	.read = fake_read,
};

SET_UP
{
	denied = NULL;
	state_said = "root\n";
	stuck = false;
	why[0] = '\0';
	fake.root = root;
	return put(root, "cgroup.subtree_control", "cpuset cpu io\n") ?:
	       put(root, "cgroup.procs", "");
}

static void read_file(const char *directory, const char *file, char *text, size_t size)
{
	char path[640];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%s", directory, file);
	n = fake_read(path, text, size - 1);
	text[n < 0 ? 0 : n] = '\0';
}

static void assert_holds(const char *directory, const char *file, const char *expected)
{
	char text[256];

	read_file(directory, file, text, sizeof(text));
	assert_string_equal(text, expected);
}

static void assert_gone(const struct partition *p)
{
	assert_int_equal(access(p->group, F_OK), -1);
}

static int take(void)
{
	return partition_open(&partition, &fake, "2-3", why, sizeof(why));
}

SET_UP_TEST(cpus_are_taken_and_given_back)
{
	assert_int_equal(take(), 0);
	assert_holds(partition.group, "cpuset.cpus", "2-3");
	assert_holds(partition.group, "cpuset.cpus.partition", "root\n");
	assert_int_equal(partition_close(&partition), 0);
	assert_gone(&partition);
	/* Once more does nothing. */
	assert_int_equal(partition_close(&partition), 0);
}

SET_UP_TEST(one_that_cannot_be_removed_is_told_and_holds_no_cpus)
{
	stuck = true;
	assert_int_equal(take(), 0);
	assert_int_equal(partition_close(&partition), -1);
	assert_holds(partition.group, "cpuset.cpus.partition", "member");
	stuck = false;
	assert_int_equal(fake_remove(partition.group), 0);
}

SET_UP_TEST(who_still_runs_there_goes_to_the_root)
{
	assert_int_equal(take(), 0);
	assert_int_equal(partition_enter(&partition, 4711), 0);
	assert_holds(partition.group, "cgroup.procs", "4711");
	partition_close(&partition);
	assert_gone(&partition);
	assert_holds(root, "cgroup.procs", "4711");
}

static void wait_until_gone(const char *directory)
{
	for (int i = 0; i < 1000 && !access(directory, F_OK); i++)
		usleep(10000);
	assert_int_equal(access(directory, F_OK), -1);
}

/* With all of its process group, as `timeout -s KILL` and fastlab kill. */
SET_UP_TEST(they_are_given_back_after_a_kill)
{
	char group[600];
	int ready[2], status;
	pid_t pid;
	char c;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		setsid();
		if (take() || write(ready[1], "", 1) != 1)
			_exit(1);
		pause();
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	snprintf(group, sizeof(group), "%s/fast-stat-%d", root, (int)pid);
	assert_int_equal(access(group, F_OK), 0);
	assert_int_equal(kill(-pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	wait_until_gone(group);
	close(ready[0]);
	close(ready[1]);
}

static void assert_refused(const char *expected)
{
	assert_int_equal(take(), -1);
	if (!strstr(why, expected))
		fail_msg("\"%s\" does not say \"%s\"", why, expected);
	if (*partition.group)
		assert_gone(&partition);
	assert_int_equal(partition.keeper, 0);
	partition_close(&partition);
}

SET_UP_TEST(why_they_cannot_be_taken_is_told)
{
	fake.root = "/proc";
	assert_refused("cgroup v2 is not mounted at /proc");
	fake.root = root;

	assert_int_equal(put(root, "cgroup.subtree_control", "cpu io\n"), 0);
	assert_refused("echo +cpuset > ");
	assert_int_equal(put(root, "cgroup.subtree_control", "cpuset\n"), 0);

	denied = "fast-stat-";
	assert_refused("cannot be made: Permission denied");
	denied = "cpuset.cpus";
	assert_refused("cpuset.cpus cannot be set: Permission denied");
	denied = "cpuset.cpus.partition";
	assert_refused("the kernel makes no partition of them: Permission denied");
	denied = NULL;

	state_said = "root invalid (Cpu list in cpuset.cpus not exclusive)\n";
	assert_refused("the kernel makes no partition of them: root invalid (Cpu list in");
}

/* The keeper takes its lifeline for a standard stream, and closes it. */
SET_UP_TEST(a_keeper_that_ends_at_once_is_told)
{
	int status;
	pid_t pid;

	pid = fork();
	if (pid == 0) {
		for (int fd = 0; fd < 3; fd++)
			close(fd);
		_exit(take() != -1 || partition.keeper ||
		      strcmp(why, "no process to give them back: No such process"));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

SET_UP_TEST(a_process_that_cannot_be_moved_is_told)
{
	assert_int_equal(take(), 0);
	denied = "cgroup.procs";
	assert_int_equal(partition_enter(&partition, 4711), -1);
	assert_int_equal(errno, EACCES);
	partition_close(&partition);
	assert_gone(&partition);
}

static int make_root(UNIT_STATE)
{
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(UNIT_STATE)
{
	char path[600];

	snprintf(path, sizeof(path), "%s/cgroup.subtree_control", root);
	unlink(path);
	snprintf(path, sizeof(path), "%s/cgroup.procs", root);
	unlink(path);
	/* Something that was left in it is a failure. */
	return rmdir(root);
}

RUN_TESTS(make_root, remove_root)
