// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a user's program as the workload. All of it, from its first instruction to its
 * exit, is the region of interest, unless it marks its own.
 *
 *	subject WORDS [SERVER]
 *
 * WORDS are "whole", "marked" or "shown", the nanoseconds to wait before the program begins,
 * its working directory, the file that is its input, its path and its argv. They are encoded for
 * words_parse(), since a job's words end at spaces.
 *
 * The program's output is discarded, since passing it on would be counted; its stderr is this
 * program's. With "shown" nothing is counted, and the output is
 * this program's, too. After the program's end one JSON object has
 *
 *	context_switches	of its threads and children; null: the kernel does not count
 *	migrations		the same
 *	maps			the lines of its /proc/PID/maps when it ended
 *
 *	server_maps		the server's, if there is one
 *
 * The exit status is the program's, as a shell reports it.
 *
 * SERVER are the path and the argv of a server. It is started before, and ended after, the region
 * of interest, which begins once it listens.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <net/if.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "json_text.h"
#include "roi.h"
#include "server.h"
#include "words.h"

#define CANNOT_PREPARE 126
#define CANNOT_RUN 127	/* as the shell says it */

enum { WHOLE, DELAY, DIRECTORY, INPUT, PATH, ARGV };	/* of the words */

struct subject {
	pid_t pid;
	bool marking;		/* this program has to end the region of interest */
	char *maps;		/* NULL: the program has not ended yet */
	struct server *server;	/* NULL: none */
};

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "subject: %s: %s\n", what, strerror(errno));
	exit(CANNOT_PREPARE);
}

/* For the program and its server; the job's variables stay. */
static void prepare_environment(void)
{
	setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 0);
	setenv("LANG", "C.UTF-8", 0);
}

static void become_file(const char *path, int flags, int fd)
{
	int opened = open(path, flags);

	if (opened < 0)
		fail(path);
	dup2(opened, fd);
	close(opened);
}

static _Noreturn void become(char **words)
{
	become_file(words[INPUT], O_RDONLY, STDIN_FILENO);
	if (strcmp(words[WHOLE], "shown"))
		become_file("/dev/null", O_WRONLY, STDOUT_FILENO);
	if (chdir(words[DIRECTORY]))
		fail(words[DIRECTORY]);
	/* So that a lock has the same address in every run. */
	personality(ADDR_NO_RANDOMIZE);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		fail("PTRACE_TRACEME");
	execv(words[PATH], words + ARGV);
	fprintf(stderr, "cannot run %s: %s\n", words[PATH], strerror(errno));
	_exit(CANNOT_RUN);
}

/* Count an event of the program and all that it will start. -1: the kernel cannot. */
static int count(pid_t pid, uint64_t event)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = event,
		.inherit = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void print_count(const char *name, int fd)
{
	uint64_t value;

	if (fd >= 0 && read(fd, &value, sizeof(value)) == sizeof(value))
		printf("\"%s\":%" PRIu64 ",", name, value);
	else
		printf("\"%s\":null,", name);
}

static char *read_maps(pid_t pid)
{
	char path[64], *text = NULL;
	size_t size = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail(path);
	do {
		text = realloc(text, size + 65536 + 1);
		if (!text)
			fail("memory for its maps");
		n = read(fd, text + size, 65536);
		if (n < 0)
			fail(path);
		size += (size_t)n;
	} while (n);
	text[size] = '\0';
	close(fd);
	return text;
}

static void print_maps(const char *name, const char *maps)
{
	printf("\"%s\":[", name);
	for (const char *line = maps; *line;) {
		size_t length = strcspn(line, "\n");

		json_text(stdout, line, length);
		line += length + (line[length] == '\n');
		if (*line)
			putchar(',');
	}
	putchar(']');
}

static void end_region(struct subject *subject)
{
	if (subject->marking)
		ROI_MARK(ROI_END);
	subject->marking = false;
}

/* Its first thread ends, but still has its memory. */
static void note_exit(struct subject *subject)
{
	struct user_regs_struct registers;

	if (ptrace(PTRACE_GETREGS, subject->pid, NULL, &registers))
		return;
	/* By this system call a thread ends alone, as by pthread_exit(). */
	if (registers.orig_rax != SYS_exit)
		end_region(subject);
	free(subject->maps);
	subject->maps = read_maps(subject->pid);
}

/* Returns whether it is a number. */
static bool parse_delay(const char *word, struct timespec *delay)
{
	unsigned long long ns;
	char *end;

	errno = 0;
	ns = strtoull(word, &end, 10);
	if (errno || *word < '0' || *word > '9' || *end)
		return false;
	delay->tv_sec = (time_t)(ns / 1000000000);
	delay->tv_nsec = (long)(ns % 1000000000);
	return true;
}

static void wait_for(struct timespec left)
{
	if (!left.tv_sec && !left.tv_nsec)
		return;
	while (nanosleep(&left, &left)) {
		if (errno != EINTR)
			fail("nanosleep");
	}
}

/* Let it run to its end; returns its status as a shell would. It ends with a server that fails. */
static int wait_for_end(struct subject *subject)
{
	int status, signal;
	pid_t pid;

	for (;;) {
		pid = waitpid(-1, &status, 0);
		if (pid < 0)
			fail("waitpid");
		if (pid != subject->pid) {
			if (subject->server && server_has_ended(subject->server, pid, status) &&
			    subject->server->status)
				kill(subject->pid, SIGKILL);
			continue;
		}
		if (!WIFSTOPPED(status))
			break;
		signal = status >> 16 ? 0 : WSTOPSIG(status);
		if (status >> 16 == PTRACE_EVENT_EXIT)
			note_exit(subject);
		/* Fails if the program was killed meanwhile, which the next wait reports. */
		ptrace(PTRACE_CONT, subject->pid, NULL, (void *)(intptr_t)signal);
	}
	end_region(subject);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* What programs expect below the /dev that init has mounted. */
static void complete_dev(void)
{
	static const char *const links[][2] = {
		{ "/dev/fd", "/proc/self/fd" },
		{ "/dev/stdin", "/proc/self/fd/0" },
		{ "/dev/stdout", "/proc/self/fd/1" },
		{ "/dev/stderr", "/proc/self/fd/2" },
	};

	if (!mkdir("/dev/shm", 01777) && mount("tmpfs", "/dev/shm", "tmpfs", 0, NULL))
		fail("/dev/shm");
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		if (symlink(links[i][1], links[i][0]) && errno != EEXIST)
			fail(links[i][0]);
	}
}

/* What programs of the guest use to reach each other. A kernel without sockets has none. */
static void bring_loopback_up(void)
{
	struct ifreq request = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	if (!ioctl(fd, SIOCGIFFLAGS, &request) && !(request.ifr_flags & IFF_UP)) {
		request.ifr_flags |= IFF_UP;
		if (ioctl(fd, SIOCSIFFLAGS, &request))
			fail("the loopback device");
	}
	close(fd);
}

/* Returns whether the server ran as long as it was needed. */
static bool end_server(struct server *server)
{
	if (server->status > 0) {
		server_tell_end(server);
		return false;
	}
	server_stop(server);
	return true;
}

int main(int argc, char **argv)
{
	static char **words, **server_words;
	static struct subject subject;
	static struct server server;
	char *server_maps = NULL;
	int status, switches, migrations;
	struct timespec delay;
	bool good;

	words = argc == 2 || argc == 3 ? words_parse(argv[1]) : NULL;
	server_words = argc == 3 ? words_parse(argv[2]) : NULL;
	good = words && (argc == 2 || (server_words && server_words[0] && server_words[1]));
	for (int i = 0; good && i <= ARGV; i++)
		good = words[i];
	if (!good || !parse_delay(words[DELAY], &delay)) {
		fprintf(stderr, "subject: WORDS are not WHOLE DELAY DIRECTORY INPUT PATH ARGV..., or SERVER "
			"is not PATH ARGV...\n");
		return CANNOT_PREPARE;
	}
	complete_dev();
	bring_loopback_up();
	prepare_environment();
	if (server_words) {
		if (!server_start(&server, server_words, words[DIRECTORY]))
			return CANNOT_PREPARE;
		subject.server = &server;
	}
	subject.pid = fork();
	if (subject.pid < 0)
		fail("fork");
	if (!subject.pid)
		become(words);
	if (waitpid(subject.pid, &status, 0) < 0)
		fail("waitpid");
	if (!WIFSTOPPED(status))
		return WIFEXITED(status) ? WEXITSTATUS(status) : CANNOT_PREPARE;

	/* The program has stopped before its first instruction. */
	switches = count(subject.pid, PERF_COUNT_SW_CONTEXT_SWITCHES);
	migrations = count(subject.pid, PERF_COUNT_SW_CPU_MIGRATIONS);
	if (ptrace(PTRACE_SETOPTIONS, subject.pid, NULL,
		   (void *)(PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT)))
		fail("PTRACE_SETOPTIONS");
	wait_for(delay);
	subject.marking = !strcmp(words[WHOLE], "whole");
	if (subject.marking)
		ROI_MARK(ROI_BEGIN);
	if (ptrace(PTRACE_CONT, subject.pid, NULL, NULL))
		fail("PTRACE_CONT");
	status = wait_for_end(&subject);
	if (subject.server) {
		server_maps = server.status < 0 ? read_maps(server.pid) : NULL;
		if (!end_server(&server))
			return CANNOT_PREPARE;
	}

	putchar('{');
	print_count("context_switches", switches);
	print_count("migrations", migrations);
	print_maps("maps", subject.maps ? subject.maps : "");
	if (subject.server) {
		putchar(',');
		print_maps("server_maps", server_maps ? server_maps : "");
	}
	puts("}");
	free(server_maps);
	free(subject.maps);
	return fflush(stdout) ? CANNOT_PREPARE : status;
}
