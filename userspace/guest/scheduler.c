// SPDX-License-Identifier: GPL-2.0
#include "scheduler.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "frame.h"

#define CANNOT_RUN 127	/* as the shell says it */
#define SAID "/scheduler.err"

/* The first word of the file, or "". */
static void read_word(const char *root, const char *name, char word[64])
{
	char path[256];
	FILE *file;

	*word = '\0';
	snprintf(path, sizeof(path), "%s%s", root, name);
	file = fopen(path, "re");
	if (!file)
		return;
	if (fscanf(file, "%63s", word) != 1)
		*word = '\0';
	fclose(file);
}

static bool is_enabled(const char *root)
{
	char state[64];

	read_word(root, SCHEDULER_STATE, state);
	return !strcmp(state, "enabled");
}

/* Send the host what the program wrote to its standard error. */
static void tell_errors(const char *root)
{
	char path[256], line[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s" SAID, root);
	file = fopen(path, "re");
	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		frame_line("err %s", line);
	}
	fclose(file);
}

static _Noreturn void become(char *const *argv, const char *root)
{
	int null = open("/dev/null", O_RDWR), errors;
	char path[256];

	snprintf(path, sizeof(path), "%s" SAID, root);
	errors = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	/* What it prints as it goes would be a load of its own. */
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(errors, STDERR_FILENO);
	execv(argv[0], argv);
	dprintf(STDERR_FILENO, "cannot run %s: %s\n", argv[0], strerror(errno));
	_exit(CANNOT_RUN);
}

bool scheduler_start(char *const *argv, const char *root)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	int status;
	pid_t pid;

	if (!argv[0])
		return true;
	pid = fork();
	if (!pid)
		become(argv, root);
	while (!is_enabled(root)) {
		if (pid < 0 || waitpid(pid, &status, WNOHANG) == pid) {
			frame_line("err init: %s ended before its scheduler was enabled", argv[0]);
			tell_errors(root);
			return false;
		}
		nanosleep(&moment, NULL);
	}
	return true;
}

bool scheduler_acted(const struct job *job, const char *root)
{
	char sequence[64];

	if (job->scheduler[0] && !is_enabled(root)) {
		frame_line("err init: the scheduler of %s did not last to the end of the workload",
			   job->scheduler[0]);
		tell_errors(root);
		return false;
	}
	read_word(root, SCHEDULER_SEQUENCE, sequence);
	if (job->scheduled && !strtoul(sequence, NULL, 10)) {
		frame_line("err init: %s enabled no sched_ext scheduler", job->argv[0]);
		return false;
	}
	return true;
}
