// SPDX-License-Identifier: GPL-2.0
/*
 * /init of the simulated guest. It prepares what all runs share, and the host saves the
 * machine. Each run continues the saved machine with a job of its own: init runs one
 * workload, sends the host its output and its exit status, and ends the simulation. Two
 * runs differ only in the job.
 *
 * The host gives the job as the file opt/fast/job of QEMU's fw_cfg, lines of text:
 *
 *	set PATH=VALUE		to a file of the kernel, as below debugfs and /proc/sys, while one
 *				CPU runs; any number, in their order
 *	late PATH=VALUE		the same, when all CPUs run
 *	env NAME=VALUE		to the workload's environment; any number
 *	date SECONDS		sets the time of day, in seconds since 1970; default: as it is
 *	cpus N			confines the workload to the CPUs 0..N-1, unseen by it; default: all
 *	scheduler PATH WORD...	a program that loads a sched_ext scheduler and stays; the workload
 *				starts when the scheduler is enabled
 *	scheduled		the workload loads one itself
 *	clock			time is that of the plugin (userspace/cachesim/clock.h)
 *	run PATH WORD...	the workload and its arguments, separated by spaces
 *
 * and reads, from the I/O port of QEMU's isa-debugcon:
 *
 *	FAST begin		the saved machine goes on
 *	FAST start		the workload is about to be started
 *	FAST out LINE		a line of the workload's stdout
 *	FAST err LINE		a line of its stderr, or of ours
 *	FAST stat NAME VALUE	a line of sched/fast/stat, where the kernel has it
 *	FAST exit STATUS	0..255, or 128 + signal; 126: the job cannot be done
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
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/pidfd.h>
#include <sys/random.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "burner.h"
#include "frame.h"
#include "job.h"
#include "roi.h"
#include "scheduler.h"
#include "settings.h"

#define PORT_HOST 0xe9	/* isa-debugcon */
#define PORT_EXIT 0xf4	/* isa-debug-exit: QEMU exits with STATUS * 2 + 1 */

#define PORT_STOP 0x505	/* pvpanic: QEMU stops the machine after this very instruction */
#define STOP 0x01
#define PORT_FW_CFG_SELECT 0x510
#define PORT_FW_CFG_DATA 0x511

#define FW_CFG_FILE_DIRECTORY 0x19
#define FW_CFG_NAME_SIZE 56
#define JOB_NAME "opt/fast/job"

#define SYSLOG_ACTION_CONSOLE_LEVEL 8
#define WARNINGS_AND_WORSE 5

#define CANNOT_PREPARE 126
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
	end_simulation(CANNOT_PREPARE);
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

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		fail(path);
	close(fd);
}

/*
 * All CPUs have their ticks at the same time, and the turns that CPUs then get differ between
 * versions of QEMU. Between two ticks there is time to start all CPUs and the clock.
 */
static void wait_for_tick(void)
{
	struct timespec last, now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &last);
	do
		clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	while (now.tv_sec == last.tv_sec && now.tv_nsec == last.tv_nsec);
}

/*
 * Only CPU 0 was started by the boot (maxcpus=1), so that the machine stops at one
 * instruction, with no other CPU in an unknown place. Start all other CPUs. Each start
 * waits for RCU grace periods, in which the CPUs that run already would only poll.
 */
static void start_cpus(void)
{
	char path[64];

	write_file("/sys/kernel/rcu_expedited", "1");
	/* CPU 0 has no such file where it cannot be unplugged. */
	for (unsigned int cpu = 1; ; cpu++) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u", cpu);
		if (access(path, F_OK))
			break;
		strcat(path, "/online");
		write_file(path, "1");
	}
	write_file("/sys/kernel/rcu_expedited", "0");
}

/*
 * When a random number is read and a second has passed, the kernel seeds its generator anew.
 * Versions of QEMU cut that code, which has no branches, into different blocks, and the plugin
 * sees blocks. So read one before the plugin counts: most workloads end within the next second.
 */
static void seed_random_numbers(void)
{
	char some[8];

	if (getrandom(some, sizeof(some), 0) < 0)
		fail("getrandom");
}

/* From here on time is the plugin's. */
static void start_clock(void)
{
	const char *error;

	seed_random_numbers();
	error = burner_start();
	if (error)
		fail(error);
	ROI_MARK(ROI_CLOCK);
}

/* While one CPU runs, as all that tells other CPUs. */
static void set_date(unsigned long seconds)
{
	struct timespec date = { .tv_sec = (time_t)seconds };

	if (seconds && clock_settime(CLOCK_REALTIME, &date))
		fail("the date");
}

/* The next `size` bytes of fw_cfg's selected item, as a big-endian number. */
static unsigned int fw_cfg_number(int size)
{
	unsigned int number = 0;

	while (size--)
		number = number << 8 | inb(PORT_FW_CFG_DATA);
	return number;
}

/* Byte by byte: insb() does not tell the compiler that it writes to memory. */
static void fw_cfg_bytes(char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		bytes[i] = (char)inb(PORT_FW_CFG_DATA);
}

/* The job's text, in memory of its own. */
static char *read_job(void)
{
	unsigned int files;

	outw(FW_CFG_FILE_DIRECTORY, PORT_FW_CFG_SELECT);
	files = fw_cfg_number(4);
	while (files--) {
		char name[FW_CFG_NAME_SIZE + 1] = "";
		unsigned int size = fw_cfg_number(4);
		unsigned int item = fw_cfg_number(2);
		char *text;

		fw_cfg_number(2);	/* reserved */
		fw_cfg_bytes(name, FW_CFG_NAME_SIZE);
		if (strcmp(name, JOB_NAME))
			continue;
		text = calloc(1, size + 1);
		if (!text)
			fail("the job's text");
		outw((unsigned short)item, PORT_FW_CFG_SELECT);
		fw_cfg_bytes(text, size);
		return text;
	}
	frame_line("err init: QEMU has no fw_cfg file " JOB_NAME);
	end_simulation(CANNOT_PREPARE);
}

/* Start the job's workload with its output going into two pipes, whose reading ends it returns. */
static pid_t start_workload(const struct job *job, int *out, int *err)
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
		if (!settings_confine(job->cpus, "")) {
			dprintf(STDERR_FILENO, "init: cannot confine the workload to %u CPUs: %s\n",
				job->cpus, strerror(errno));
			_exit(CANNOT_PREPARE);
		}
		for (size_t i = 0; i < job->n_environment; i++)
			putenv(job->environment[i]);
		execv(job->argv[0], job->argv);
		dprintf(STDERR_FILENO, "init: cannot run %s: %s\n", job->argv[0], strerror(errno));
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
static int run_workload(const struct job *job)
{
	struct stream streams[2] = { { .name = "out" }, { .name = "err" } };
	struct pollfd fds[3] = { { .events = POLLIN }, { .events = POLLIN }, { .events = POLLIN } };
	pid_t pid = start_workload(job, &fds[0].fd, &fds[1].fd);
	bool acted = true;
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
			acted = scheduler_acted(job, "");
			/* Children it left behind would hold the pipes open for ever. */
			kill(-1, SIGKILL);
			fds[2].fd = -1;
		}
	}
	if (waitpid(pid, &status, 0) < 0)
		fail("waitpid");
	if (!acted)
		return CANNOT_PREPARE;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void report_mechanism_counters(void)
{
	char name[64], value[64];
	FILE *file = fopen(SETTINGS_FAST "/stat", "re");

	if (!file)
		return;
	while (fscanf(file, "%63s %63s", name, value) == 2)
		frame_line("stat %s %s", name, value);
	fclose(file);
}

static void open_ports(void)
{
	/* Without its ports the program cannot report; the host's watchdog sees the guest hang. */
	if (ioperm(PORT_HOST, 1, 1) || ioperm(PORT_EXIT, 1, 1) || ioperm(PORT_STOP, 1, 1) ||
	    ioperm(PORT_FW_CFG_SELECT, 2, 1)) {
		perror("init: ioperm (is CONFIG_X86_IOPL_IOPERM set?)");
		reboot(RB_AUTOBOOT);
	}
}

int main(void)
{
	struct job job;
	const char *error;
	int status;

	open_ports();
	mount_at("proc", "/proc", true);
	mount_at("sysfs", "/sys", true);
	mount_at("devtmpfs", "/dev", true);
	mount_at("debugfs", "/sys/kernel/debug", false);
	open_standard_files();
	/* From here on the console costs a run its time only when something is wrong. */
	klogctl(SYSLOG_ACTION_CONSOLE_LEVEL, NULL, WARNINGS_AND_WORSE);

	/* The host saves the machine here. A run begins with the next instruction. */
	outb(STOP, PORT_STOP);

	frame_line("begin");
	error = job_parse(&job, read_job());
	if (error) {
		frame_line("err init: job: %s", error);
		end_simulation(CANNOT_PREPARE);
	}
	/*
	 * While one CPU runs: for a setting that changes its code, the kernel interrupts all other
	 * CPUs and waits for them, and the order of their turns differs between versions of QEMU.
	 */
	if (!settings_apply(&job.early, ""))
		end_simulation(CANNOT_PREPARE);
	set_date(job.date);
	wait_for_tick();
	start_cpus();
	if (job.clock)
		start_clock();
	/* A CPU that starts scales some of the kernel's values anew. */
	if (!settings_apply(&job.late, ""))
		end_simulation(CANNOT_PREPARE);
	if (!scheduler_start(job.scheduler, ""))
		end_simulation(CANNOT_PREPARE);
	frame_line("start");
	status = run_workload(&job);
	report_mechanism_counters();
	end_simulation(status);
}
