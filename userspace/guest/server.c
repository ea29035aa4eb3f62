// SPDX-License-Identifier: GPL-2.0
#include "server.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CANNOT_RUN 127	/* as the shell says it */
#define MS 1000000
#define LOOK_MS 5	/* between two looks */
#define LISTEN_MS 10000	/* until it listens */
#define SETTLE_MS 20	/* for what it does before it waits */
#define STOP_MS 100	/* from SIGTERM to SIGKILL: simulated, a second takes long */
#define LAST_WORDS 2048	/* bytes of its output */

/* In /proc/net/tcp the state TCP_LISTEN, in /proc/net/unix the flag SO_ACCEPTCON. */
#define TCP_LISTENS 0x0a
#define UNIX_ACCEPTS 0x10000

static void wait_ms(int ms)
{
	struct timespec left = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * MS };

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

/* Does the socket listen? */
static bool is_in(const char *table, const char *format, unsigned int listens, uint64_t socket)
{
	unsigned int state;
	uint64_t inode;
	char line[512];
	FILE *file = fopen(table, "re");
	bool found = false;

	/* A kernel without such sockets. */
	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file))
		found = sscanf(line, format, &state, &inode) == 2 && inode == socket &&
			state == listens;
	fclose(file);
	return found;
}

static bool is_listening(uint64_t socket)
{
	static const char tcp[] = "%*s %*s %*s %x %*s %*s %*s %*s %*s %" SCNu64;

	return is_in("/proc/net/tcp", tcp, TCP_LISTENS, socket) ||
	       is_in("/proc/net/tcp6", tcp, TCP_LISTENS, socket) ||
	       is_in("/proc/net/unix", "%*s %*s %*s %x %*s %*s %" SCNu64, UNIX_ACCEPTS, socket);
}

/* Does the process have a listening socket? */
static bool process_listens(pid_t pid)
{
	char path[64], target[64];
	const struct dirent *entry;
	uint64_t socket;
	bool found = false;
	DIR *files;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	files = opendir(path);
	if (!files)
		return false;
	while (!found && (entry = readdir(files))) {
		ssize_t length = readlinkat(dirfd(files), entry->d_name, target, sizeof(target) - 1);

		if (length < 0)
			continue;
		target[length] = '\0';
		found = sscanf(target, "socket:[%" SCNu64, &socket) == 1 && is_listening(socket);
	}
	closedir(files);
	return found;
}

/* Does a process of the server's session listen? */
static bool listens(pid_t session)
{
	DIR *processes = opendir("/proc");
	const struct dirent *entry;
	bool found = false;

	while (processes && !found && (entry = readdir(processes))) {
		pid_t pid = isdigit((unsigned char)entry->d_name[0]) ? atoi(entry->d_name) : 0;

		found = pid && getsid(pid) == session && process_listens(pid);
	}
	if (processes)
		closedir(processes);
	return found;
}

static void tell_output(const struct server *server)
{
	char last[LAST_WORDS];
	off_t size = lseek(server->output, 0, SEEK_END);
	ssize_t n = pread(server->output, last, sizeof(last),
			  size > LAST_WORDS ? size - LAST_WORDS : 0);

	if (n > 0)
		fwrite(last, 1, (size_t)n, stderr);
}

static _Noreturn void become(const struct server *server, char **argv, const char *directory)
{
	int null = open("/dev/null", O_RDONLY);

	setsid();
	dup2(null, STDIN_FILENO);
	dup2(server->output, STDOUT_FILENO);
	dup2(server->output, STDERR_FILENO);
	personality(ADDR_NO_RANDOMIZE);
	if (chdir(directory)) {
		dprintf(STDERR_FILENO, "%s: %s\n", directory, strerror(errno));
		_exit(CANNOT_RUN);
	}
	execv(server->path, argv);
	dprintf(STDERR_FILENO, "cannot run it: %s\n", strerror(errno));
	_exit(CANNOT_RUN);
}

bool server_has_ended(struct server *server, pid_t pid, int status)
{
	if (pid != server->pid || server->status >= 0)
		return false;
	server->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return true;
}

/* Has it ended by now? */
static bool is_over(struct server *server)
{
	int status;
	pid_t pid = server->status < 0 ? waitpid(server->pid, &status, WNOHANG) : 0;

	if (pid > 0)
		server_has_ended(server, pid, status);
	return server->status >= 0;
}

bool server_start(struct server *server, char **words, const char *directory)
{
	*server = (struct server){ .path = words[0], .status = -1 };
	server->output = memfd_create("output of the server", MFD_CLOEXEC);
	server->pid = server->output < 0 ? -1 : fork();
	if (server->pid < 0) {
		fprintf(stderr, "subject: the server %s: %s\n", server->path, strerror(errno));
		return false;
	}
	if (!server->pid)
		become(server, words + 1, directory);
	for (int ms = 0; ms < LISTEN_MS; ms += LOOK_MS) {
		wait_ms(LOOK_MS);
		if (is_over(server)) {
			fprintf(stderr, "subject: the server %s ended with status %d before it "
				"listened at a port or socket; it has to stay in the foreground\n",
				server->path, server->status);
			tell_output(server);
			return false;
		}
		if (listens(server->pid)) {
			wait_ms(SETTLE_MS);
			return true;
		}
	}
	fprintf(stderr, "subject: the server %s has not listened at a port or socket for %d s of "
		"modelled time\n", server->path, LISTEN_MS / 1000);
	tell_output(server);
	server_stop(server);
	return false;
}

void server_tell_end(const struct server *server)
{
	fprintf(stderr, "subject: the server %s ended with status %d before the program did\n",
		server->path, server->status);
	tell_output(server);
}

void server_stop(struct server *server)
{
	if (is_over(server))
		return;
	kill(-server->pid, SIGTERM);
	for (int ms = 0; ms < STOP_MS; ms += LOOK_MS) {
		if (is_over(server))
			return;
		wait_ms(LOOK_MS);
	}
	kill(-server->pid, SIGKILL);
	waitpid(server->pid, NULL, 0);
}
