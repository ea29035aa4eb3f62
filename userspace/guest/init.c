// SPDX-License-Identifier: GPL-2.0
/*
 * /init of the simulated guest: brings the machine into its measuring state,
 * runs one workload, tells the host what it said and how it ended, and ends
 * the simulation. It has no clock and no file to write: a boot repeats exactly.
 *
 * The kernel hands it, as arguments, the words of its command line that it does
 * not know ("nokaslr" where there is no KASLR), then those after "--". The first
 * absolute path among them is the workload, and its arguments follow. Unknown
 * NAME=VALUE words become the environment.
 *
 * The host reads, from the I/O port of QEMU's isa-debugcon:
 *
 *	FAST begin
 *	FAST out LINE		a line of the workload's stdout
 *	FAST err LINE		a line of its stderr, or of ours
 *	FAST stat NAME VALUE	a line of /proc/fast_stat, where the kernel has it
 *	FAST exit STATUS	0..255, or 128 + signal
 *	FAST end
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/mount.h>
#include <sys/pidfd.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frame.h"

#define PORT_HOST 0xe9	/* isa-debugcon */
#define PORT_EXIT 0xf4	/* isa-debug-exit: QEMU exits with STATUS * 2 + 1 */

#define PORT_PIC_MASK 0x21
#define PIC_MASK_TIMER 0x01

#define PORT_PIT_CHANNEL_0 0x40
#define PORT_PIT_COMMAND 0x43
#define PIT_RATE_GENERATOR 0x34	/* channel 0, low byte then high byte, mode 2, binary */
#define PIT_HZ 1193182
#define PIT_MAX_COUNT 65535

#define DEFAULT_QUANTUM_US "8"

#define CANNOT_RUN 127	/* as the shell says it */

void frame_emit(const char *bytes, size_t size)
{
	outsb(PORT_HOST, bytes, size);
}

static _Noreturn void end_simulation(int status)
{
	frame_line("exit %d", status);
	frame_line("end");
	outb((unsigned char)status, PORT_EXIT);
	/* Still here: this QEMU has no such device. Its -no-reboot makes a reboot the end. */
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

static _Noreturn void fail(const char *what)
{
	frame_line("err init: %s: %s", what, strerror(errno));
	end_simulation(CANNOT_RUN);
}

static void mount_at(const char *type, const char *target, bool needed)
{
	mkdir(target, 0755);
	/* EBUSY: the kernel has mounted it (CONFIG_DEVTMPFS_MOUNT). */
	if (mount(type, target, type, 0, NULL) && errno != EBUSY && needed)
		fail(target);
}

/* A kernel without /dev/console starts init with no files open at all. */
static void open_standard_files(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd < 0)
		fail("/dev/null");
	close(fd);
}

/* The boot was done by one CPU (maxcpus=1), which is cheaper: start the others. */
static void start_cpus(void)
{
	char path[64];
	int fd;

	/* CPU 0 has no such file where it cannot be unplugged. */
	for (unsigned int cpu = 1; ; cpu++) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u", cpu);
		if (access(path, F_OK))
			return;
		strcat(path, "/online");
		fd = open(path, O_WRONLY | O_CLOEXEC);
		if (fd < 0 || write(fd, "1", 1) != 1)
			fail(path);
		close(fd);
	}
}

/*
 * QEMU runs the guest's CPUs in turn, each until the next timer of the machine
 * is due. The interval timer's channel 0 supplies such a timer: its period bounds
 * a CPU's turn, the quantum. Its interrupt must reach no CPU, or the guest would
 * measure little else: it is masked in the PIC, where a kernel booted with noapic
 * has it. (The kernel keeps time by the local APICs.)
 */
static void start_quantum(void)
{
	const char *text = getenv("FAST_QUANTUM_US") ?: DEFAULT_QUANTUM_US;
	char *end;
	unsigned long us = strtoul(text, &end, 10);
	unsigned long count = us <= 1000000 ? (us * PIT_HZ + 500000) / 1000000 : 0;

	if (end == text || *end || *text == '-' || count < 2 || count > PIT_MAX_COUNT) {
		frame_line("err init: FAST_QUANTUM_US=%s: must be a whole number from 2 to 54924", text);
		end_simulation(CANNOT_RUN);
	}
	outb(inb(PORT_PIC_MASK) | PIC_MASK_TIMER, PORT_PIC_MASK);
	outb(PIT_RATE_GENERATOR, PORT_PIT_COMMAND);
	outb(count & 0xff, PORT_PIT_CHANNEL_0);
	outb((unsigned char)(count >> 8), PORT_PIT_CHANNEL_0);
}

/* Start argv[0] with its output going into two pipes, whose reading ends it returns. */
static pid_t start_workload(char **argv, int *out, int *err)
{
	int out_pipe[2], err_pipe[2];
	pid_t pid;

	if (pipe2(out_pipe, O_CLOEXEC) || pipe2(err_pipe, O_CLOEXEC))
		fail("pipe");
	pid = fork();
	if (pid < 0)
		fail("fork");
	if (!pid) {
		dup2(out_pipe[1], STDOUT_FILENO);
		dup2(err_pipe[1], STDERR_FILENO);
		execv(argv[0], argv);
		dprintf(STDERR_FILENO, "init: cannot run %s: %s\n", argv[0], strerror(errno));
		_exit(CANNOT_RUN);
	}
	close(out_pipe[1]);
	close(err_pipe[1]);
	*out = out_pipe[0];
	*err = err_pipe[0];
	return pid;
}

/* Read what is there. False once the stream has ended. */
static bool forward(struct stream *stream, int fd)
{
	static char buffer[65536];
	ssize_t size = read(fd, buffer, sizeof(buffer));

	if (size > 0) {
		stream_feed(stream, buffer, (size_t)size);
		return true;
	}
	stream_end(stream);
	return false;
}

/* Run the workload to its end, passing on its output. Returns its status as a shell would. */
static int run_workload(char **argv)
{
	struct stream streams[2] = { { .name = "out" }, { .name = "err" } };
	struct pollfd fds[3] = { { .events = POLLIN }, { .events = POLLIN }, { .events = POLLIN } };
	pid_t pid = start_workload(argv, &fds[0].fd, &fds[1].fd);
	int status;

	fds[2].fd = pidfd_open(pid, 0);
	if (fds[2].fd < 0)
		fail("pidfd_open");
	while (fds[0].fd >= 0 || fds[1].fd >= 0) {
		if (poll(fds, 3, -1) < 0)
			fail("poll");
		for (int i = 0; i < 2; i++) {
			if (fds[i].revents && !forward(&streams[i], fds[i].fd))
				fds[i].fd = -1;
		}
		if (fds[2].revents) {
			/* Children it left behind would hold the pipes open for ever. */
			kill(-1, SIGKILL);
			fds[2].fd = -1;
		}
	}
	if (waitpid(pid, &status, 0) < 0)
		fail("waitpid");
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void report_mechanism_counters(void)
{
	char name[64], value[64];
	FILE *file = fopen("/proc/fast_stat", "re");

	if (!file)
		return;
	while (fscanf(file, "%63s %63s", name, value) == 2)
		frame_line("stat %s %s", name, value);
	fclose(file);
}

int main(int argc, char **argv)
{
	int status;

	(void)argc;
	/* Without its ports the program can tell nobody; QEMU's watchdog sees the guest hang. */
	if (ioperm(PORT_HOST, 1, 1) || ioperm(PORT_EXIT, 1, 1) || ioperm(PORT_PIC_MASK, 1, 1) ||
	    ioperm(PORT_PIT_CHANNEL_0, 4, 1)) {
		perror("init: ioperm (is CONFIG_X86_IOPL_IOPERM set?)");
		reboot(RB_AUTOBOOT);
	}
	frame_line("begin");
	mount_at("proc", "/proc", true);
	mount_at("sysfs", "/sys", true);
	mount_at("devtmpfs", "/dev", true);
	mount_at("debugfs", "/sys/kernel/debug", false);
	open_standard_files();
	do
		argv++;
	while (*argv && **argv != '/');
	if (!*argv) {
		frame_line("err init: no workload: give its absolute path after -- on the kernel's "
			   "command line");
		end_simulation(CANNOT_RUN);
	}
	start_quantum();
	start_cpus();
	status = run_workload(argv);
	report_mechanism_counters();
	end_simulation(status);
}
