// SPDX-License-Identifier: GPL-2.0
/*
 * What a program is told of the machine's CPUs, and of its own affinity.
 *
 *	cpus_told told		in every way there is, a line each
 *	cpus_told own		of masks that it sets itself, a line each
 *	cpus_told mask		of its own, one line
 *
 * Each says last, as "ran LIST", on which CPUs its threads were; getcpu() tells where one
 * runs, and is no way to ask which CPUs there are.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST 64
#define CGROUPS "/cgroup"
/* For the scheduler to spread threads, and to see that they stay. */
#define BUSY_NS 4000000

/* Of MOST bits. Threads add to it. */
static unsigned long long ran;

static void note_cpu(void)
{
	__atomic_fetch_or(&ran, 1ULL << sched_getcpu(), __ATOMIC_RELAXED);
}

static void put_cpus(const char *name, unsigned long long cpus)
{
	const char *comma = "";

	printf("%s ", name);
	for (int cpu = 0; cpu < MOST; cpu++) {
		if (cpus >> cpu & 1) {
			printf("%s%d", comma, cpu);
			comma = ",";
		}
	}
	putchar('\n');
	fflush(stdout);
}

static unsigned long long bits(const cpu_set_t *set)
{
	unsigned long long cpus = 0;

	for (int cpu = 0; cpu < MOST; cpu++)
		cpus |= (unsigned long long)CPU_ISSET(cpu, set) << cpu;
	return cpus;
}

static void put_affinity(const char *name, pid_t pid)
{
	cpu_set_t set;

	if (sched_getaffinity(pid, sizeof(set), &set))
		printf("%s %s\n", name, strerror(errno));
	else
		put_cpus(name, bits(&set));
}

/* The lines of a file that begin so. */
static void put_lines(const char *path, const char *beginning)
{
	char line[4096];
	FILE *file = fopen(path, "r");

	if (!file)
		printf("%s: %s\n", path, strerror(errno));
	while (file && fgets(line, sizeof(line), file)) {
		if (!strncmp(line, beginning, strlen(beginning)))
			printf("%s: %s", path, line);
	}
	if (file)
		fclose(file);
}

/* How many lines begin so. */
static void count_lines(const char *path, const char *beginning)
{
	char line[65536];
	FILE *file = fopen(path, "r");
	int n = 0;

	while (file && fgets(line, sizeof(line), file)) {
		n += !strncmp(line, beginning, strlen(beginning));
	}
	printf("%s: %d of %s\n", path, n, beginning);
	if (file)
		fclose(file);
}

/* How many directories there are of a name and a number. */
static void count_directories(const char *path, const char *beginning)
{
	DIR *directory = opendir(path);
	struct dirent *one;
	int n = 0;

	while (directory && (one = readdir(directory))) {
		if (!strncmp(one->d_name, beginning, strlen(beginning)) &&
		    isdigit((unsigned char)one->d_name[strlen(beginning)]))
			n++;
	}
	printf("%s: %d of %s\n", path, n, beginning);
	if (directory)
		closedir(directory);
}

static bool put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	bool good = fd >= 0 && write(fd, text, strlen(text)) >= 0;

	if (!good)
		printf("%s: %s\n", path, strerror(errno));
	close(fd);
	return good;
}

/* A group of its own for a while, of these CPUs. */
static void mount_cgroups(const char *cpus)
{
	mkdir(CGROUPS, 0755);
	if (mount("cgroup2", CGROUPS, "cgroup2", 0, NULL) && errno != EBUSY)
		perror("cgroup2");
	put(CGROUPS "/cgroup.subtree_control", "+cpuset");
	mkdir(CGROUPS "/group", 0755);
	put(CGROUPS "/group/cpuset.cpus", cpus);
}

static void unmount_cgroups(void)
{
	put(CGROUPS "/cgroup.procs", "0");
	rmdir(CGROUPS "/group");
	put(CGROUPS "/cgroup.subtree_control", "-cpuset");
	umount(CGROUPS);
	rmdir(CGROUPS);
}

/* Another program, whose output is ours. */
static void call(const char *path, const char *word)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		execl(path, path, word, NULL);
		printf("%s: %s\n", path, strerror(errno));
		exit(127);
	}
	waitpid(pid, &status, 0);
	if (status)
		printf("%s %s: status %x\n", path, word ? word : "", status);
}

static void *tell_thread(void *unused)
{
	cpu_set_t set;

	if (!pthread_getaffinity_np(pthread_self(), sizeof(set), &set))
		put_cpus("pthread_getaffinity_np of a thread", bits(&set));
	put_affinity("sched_getaffinity of a thread", gettid());
	put_lines("/proc/thread-self/status", "Cpus_allowed");
	return unused;
}

static void *be_busy(void *unused)
{
	struct timespec now, end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += BUSY_NS;
	do {
		note_cpu();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - end.tv_sec) * 1000000000 + now.tv_nsec - end.tv_nsec < 0);
	return unused;
}

static void in_threads(void *(*function)(void *), int n)
{
	pthread_t threads[MOST];

	for (int i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, function, NULL);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

static void tell(void)
{
	static const char *const files[] = { "online", "possible", "present", "offline", "isolated",
					     "kernel_max" };
	unsigned long raw[MOST] = { 0 };
	char path[128];
	cpu_set_t set;
	long size;

	put_affinity("sched_getaffinity", 0);
	size = syscall(SYS_sched_getaffinity, 0, sizeof(raw), raw);
	printf("its system call %ld %lx\n", size, raw[0]);
	put_affinity("sched_getaffinity of the parent", getppid());
	if (!pthread_getaffinity_np(pthread_self(), sizeof(set), &set))
		put_cpus("pthread_getaffinity_np", bits(&set));
	in_threads(tell_thread, 1);
	printf("_SC_NPROCESSORS_CONF %ld\n", sysconf(_SC_NPROCESSORS_CONF));
	printf("_SC_NPROCESSORS_ONLN %ld\n", sysconf(_SC_NPROCESSORS_ONLN));
	printf("get_nprocs %d\n", get_nprocs());
	printf("get_nprocs_conf %d\n", get_nprocs_conf());

	put_lines("/proc/self/status", "Cpus_allowed");
	count_lines("/proc/cpuinfo", "processor");
	count_lines("/proc/stat", "cpu");
	put_lines("/proc/interrupts", "        ");
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/%s", files[i]);
		put_lines(path, "");
	}
	count_directories("/sys/devices/system/cpu", "cpu");
	put_lines("/sys/devices/system/cpu/cpu0/topology/package_cpus_list", "");
	put_lines("/sys/devices/system/node/node0/cpulist", "");

	put_lines("/proc/self/cpuset", "");
	put_lines("/proc/self/cgroup", "");
	mount_cgroups("2-3");
	put_lines(CGROUPS "/cpuset.cpus.effective", "");
	put_lines(CGROUPS "/group/cpuset.cpus.effective", "");
	unmount_cgroups();

	call("/bin/nproc", NULL);
	call("/bin/nproc", "--all");
	call("/proc/self/exe", "mask");
	in_threads(be_busy, 8);
}

static void set_mask(unsigned long long cpus, const char *of)
{
	char name[128];
	cpu_set_t set;
	int status;

	CPU_ZERO(&set);
	for (int cpu = 0; cpu < MOST; cpu++) {
		if (cpus >> cpu & 1)
			CPU_SET(cpu, &set);
	}
	status = sched_setaffinity(0, sizeof(set), &set) ? errno : 0;
	note_cpu();
	snprintf(name, sizeof(name), "%s: %s, and is", of, strerror(status));
	put_affinity(name, 0);
	put_lines("/proc/self/status", "Cpus_allowed_list");
}

static void *set_in_thread(void *unused)
{
	set_mask(1 << 2, "a thread sets 2");
	be_busy(NULL);
	return unused;
}

static void set_own(void)
{
	char name[64];

	for (int cpu = 0; cpu < get_nprocs(); cpu++) {
		snprintf(name, sizeof(name), "sets %d", cpu);
		set_mask(1ULL << cpu, name);
		be_busy(NULL);
		call("/proc/self/exe", "mask");
	}
	set_mask(1ULL << 1 | 1ULL << 63, "sets 1 and one that is not there");
	set_mask(1ULL << 63, "sets one that is not there");
	set_mask(0, "sets none");
	in_threads(set_in_thread, 1);
	put_affinity("which is not of the first thread", 0);
	set_mask(~0ULL, "sets all");

	mount_cgroups("2-3");
	put(CGROUPS "/group/cgroup.procs", "0");
	put_affinity("in a group of 2 and 3", 0);
	call("/proc/self/exe", "mask");
	in_threads(be_busy, 4);
	set_mask(1 << 1 | 1 << 2, "sets 1 and 2 there");
	put(CGROUPS "/group/cpuset.cpus", "1-3");
	put_affinity("in a group of 1 to 3", 0);
	call("/proc/self/exe", "mask");
	unmount_cgroups();
	put_affinity("out of the group", 0);
	in_threads(be_busy, 8);
}

int main(int argc, char **argv)
{
	const char *what = argc == 2 ? argv[1] : "";

	setvbuf(stdout, NULL, _IOLBF, 0);
	note_cpu();
	if (!strcmp(what, "told")) {
		tell();
	} else if (!strcmp(what, "own")) {
		set_own();
	} else if (!strcmp(what, "mask")) {
		put_affinity("a child", 0);
		return 0;
	} else {
		return 2;
	}
	note_cpu();
	put_cpus("ran", ran);
	return 0;
}
