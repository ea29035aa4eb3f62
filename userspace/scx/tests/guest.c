// SPDX-License-Identifier: GPL-2.0
/*
 * /init of a guest with two CPUs and sched_ext, on which scx_fast is loaded for real. It says what
 * it found on the console, a line for each step in TAP's form, and powers the machine off.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define STATE "/sys/kernel/sched_ext/state"
#define SCX_FAST "/bin/scx_fast"
#define ERRORS "/errors"
#define SECONDS 120

static void prepare(void)
{
	static const char *const mounts[][2] = {
		{ "proc", "/proc" }, { "sysfs", "/sys" }, { "devtmpfs", "/dev" },
	};

	for (size_t i = 0; i < sizeof(mounts) / sizeof(*mounts); i++) {
		mkdir(mounts[i][1], 0755);
		mount(mounts[i][0], mounts[i][1], mounts[i][0], 0, NULL);
	}
}

static bool holds(const char *path, const char *text)
{
	static char content[65536];
	FILE *file = fopen(path, "re");
	size_t size = file ? fread(content, 1, sizeof(content) - 1, file) : 0;

	content[size] = '\0';
	if (file)
		fclose(file);
	return strstr(content, text);
}

static void write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		printf("# %s: %s\n", path, strerror(errno));
	close(fd);
}

/* The argument vector's program, its messages in ERRORS. */
static pid_t start(char *const *argv, uid_t user)
{
	pid_t pid = fork();

	if (!pid) {
		int errors = open(ERRORS, O_WRONLY | O_CREAT | O_TRUNC, 0666);

		dup2(errors, STDERR_FILENO);
		if (user && setuid(user))
			_exit(1);
		execv(argv[0], argv);
		_exit(127);
	}
	return pid;
}

static int end_of(pid_t pid)
{
	int status;

	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static bool becomes(const char *path, const char *text)
{
	for (int i = 0; i < SECONDS * 10; i++) {
		if (holds(path, text))
			return true;
		usleep(100000);
	}
	return false;
}

static void tell(const char *what, bool ok)
{
	static int step;
	static char text[65536];

	printf("%sok %d - %s\n", ok ? "" : "not ", ++step, what);
	if (!ok) {
		FILE *file = fopen(ERRORS, "re");

		while (file && fgets(text, sizeof(text), file))
			printf("# %s", text);
		if (file)
			fclose(file);
	}
	fflush(stdout);
}

#define ARGV(...) ((char *[]){ SCX_FAST, __VA_ARGS__, NULL })

static void placing(void)
{
	int status = end_of(start(ARGV("--mode", "strict", "--", "/bin/placement", "0"), 0));

	tell("strict: a waiter goes on where it was released", !status);
	tell("the hand-offs are counted", holds(ERRORS, "handoffs 20 ") && holds(ERRORS, "placed 20 "));
	status = end_of(start(ARGV("--mode", "off", "--", "/bin/placement", "1"), 0));
	tell("off: it goes on where it ran", !status);
	status = end_of(start(ARGV("--mode", "adaptive", "--", "/bin/single_ctr", "--threads", "4",
				   "--iterations", "5000"), 0));
	tell("adaptive: a benchmark ends", !status && holds(STATE, "disabled"));
}

static void ends(void)
{
	pid_t pid = start(ARGV("--all"), 0);

	tell("the whole machine", becomes(STATE, "enabled"));
	tell("a second one runs the program without",
	     end_of(start(ARGV("--", "/bin/placement", "1"), 0)) != 125 &&
	     holds(ERRORS, "another sched_ext scheduler is loaded"));
	kill(pid, SIGTERM);
	tell("it ends by SIGTERM", end_of(pid) == 0 && becomes(STATE, "disabled"));
	pid = start(ARGV("--all"), 0);
	tell("again", becomes(STATE, "enabled"));
	kill(pid, SIGKILL);
	tell("killed, it is gone", end_of(pid) == 128 + SIGKILL && becomes(STATE, "disabled"));
	pid = start(ARGV("--all"), 0);
	becomes(STATE, "enabled");
	write_to("/proc/sysrq-trigger", "S");
	tell("thrown out by SysRq, it says so",
	     end_of(pid) == 125 && holds(ERRORS, "unloaded the scheduler: disabled by sysrq-S"));
	pid = start(ARGV("--all", "--json", "/counters"), 0);
	becomes(STATE, "enabled");
	write_to("/sys/devices/system/cpu/cpu1/online", "0");
	tell("a CPU goes, and it is loaded again",
	     becomes(ERRORS, "loading it again") && becomes(STATE, "enabled"));
	write_to("/sys/devices/system/cpu/cpu1/online", "1");
	becomes(STATE, "disabled");
	tell("and when it comes", becomes(STATE, "enabled"));
	kill(pid, SIGTERM);
	tell("the counters are written", end_of(pid) == 0 && holds("/counters", "\"handoffs\": "));
	end_of(start(ARGV("--", "/bin/placement", "1"), 65534));
	tell("another user's program runs without", holds(ERRORS, "it takes root to load a scheduler"));
}

/* A child that computes until it is killed, of this class; on the second CPU, unless `nicer` is -1. */
static pid_t spin(int policy, int nicer)
{
	const struct sched_param parameters = { .sched_priority = policy == SCHED_FIFO };
	pid_t pid = fork();
	cpu_set_t one;

	if (pid)
		return pid;
	CPU_ZERO(&one);
	CPU_SET(1, &one);
	if (nicer >= 0 && (sched_setaffinity(0, sizeof(one), &one) || nice(nicer) < 0))
		_exit(1);
	if (sched_setscheduler(0, policy, &parameters))
		_exit(1);
	for (;;)
		;
}

/* Its CPU time in microseconds. */
static long end_spinning(pid_t pid)
{
	struct rusage usage;

	kill(pid, SIGKILL);
	wait4(pid, NULL, 0, &usage);
	return usage.ru_utime.tv_sec * 1000000 + usage.ru_utime.tv_usec;
}

static bool runs_on(int cpu)
{
	for (int i = 0; i < 10; i++) {
		usleep(1000);
		if (sched_getcpu() != cpu)
			return false;
	}
	return true;
}

static bool obeys_masks(void)
{
	cpu_set_t mask;
	bool ok = true;

	for (int i = 0; i < 20; i++) {
		CPU_ZERO(&mask);
		CPU_SET(i % 2, &mask);
		ok &= !sched_setaffinity(0, sizeof(mask), &mask) && sched_getcpu() == i % 2 &&
		      runs_on(i % 2);
	}
	CPU_SET(0, &mask);
	CPU_SET(1, &mask);
	return ok && !sched_setaffinity(0, sizeof(mask), &mask);
}

static bool obeys_cpuset(void)
{
	bool ok;

	mkdir("/groups", 0755);
	mount("cgroup2", "/groups", "cgroup2", 0, NULL);
	write_to("/groups/cgroup.subtree_control", "+cpuset");
	mkdir("/groups/one", 0755);
	write_to("/groups/one/cpuset.cpus", "1");
	write_to("/groups/one/cgroup.procs", "0");
	ok = runs_on(1);
	write_to("/groups/cgroup.procs", "0");
	return ok;
}

static bool storm(void)
{
	pid_t children[300];
	bool ok = true;

	for (int i = 0; i < 300; i++) {
		children[i] = fork();
		if (!children[i])
			_exit(7);
	}
	for (int i = 0; i < 300; i++)
		ok &= end_of(children[i]) == 7;
	return ok;
}

static void beside(void)
{
	pid_t first = spin(SCHED_OTHER, -1), second = spin(SCHED_OTHER, -1), loader, realtime;
	long one, other;

	sleep(1);
	end_of(start(ARGV("--", "/bin/placement", "1"), 0));
	tell("beside busy CPUs a program runs without",
	     holds(ERRORS, "the CPUs are busy with other programs"));
	loader = start(ARGV("--all"), 0);
	becomes(STATE, "enabled");
	end_spinning(first);
	end_spinning(second);
	first = spin(SCHED_OTHER, -1);
	second = spin(SCHED_OTHER, -1);
	usleep(100000);
	realtime = spin(SCHED_FIFO, 0);
	sleep(4);
	one = end_spinning(first);
	other = end_spinning(second);
	end_spinning(realtime);
	printf("# beside a real-time thread: %ld and %ld us\n", one, other);
	tell("a real-time thread holds up no other", one < 4 * other && other < 4 * one);
	first = spin(SCHED_OTHER, 0);
	second = spin(SCHED_OTHER, 5);
	sleep(4);
	one = end_spinning(first);
	other = end_spinning(second);
	/* Their weights are 1024 and 335 (kernel/sched/core.c). */
	printf("# nice 0 and 5: %ld and %ld us\n", one, other);
	tell("priorities are heeded", one > 2 * other && one < 5 * other);
	tell("affinity masks are obeyed", obeys_masks());
	tell("cpusets are obeyed", obeys_cpuset());
	tell("a storm of forks", storm());
	tell("and it is loaded still", holds(STATE, "enabled") && !kill(loader, 0));
}

int main(void)
{
	prepare();
	/* For a user that is not root. */
	chmod("/", 0755);
	placing();
	ends();
	beside();
	printf("end of the guest\n");
	fflush(stdout);
	sync();
	reboot(RB_POWER_OFF);
}
