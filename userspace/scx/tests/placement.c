// SPDX-License-Identifier: GPL-2.0
/*
 * placement CPU...: hands over to a waiter ROUNDS times, from CPU 0 to a thread that has last run on
 * CPU 1, and says on how many of the CPUs that follow it went on. Ends with 0 if it did so nearly
 * always on the first of them.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ROUNDS 20
/* Something else may get in the way. */
#define AT_LEAST (ROUNDS * 3 / 4)

static _Atomic int word;
static _Atomic pid_t waiter;
static int went_on_at[2];

static void pin(int cpu, int cpus)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int i = 0; i < cpus; i++)
		CPU_SET(cpu + i, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("placement: sched_setaffinity");
		exit(2);
	}
}

static void *wait_for_it(void *arg)
{
	waiter = (pid_t)syscall(SYS_gettid);
	for (int i = 0; i < ROUNDS; i++) {
		pin(1, 1);
		pin(0, 2);
		while (word == i)
			syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, i, NULL, NULL, 0);
		went_on_at[sched_getcpu() == 1]++;
	}
	return arg;
}

/* Until the waiter sleeps, as its status says. */
static void await_sleep(void)
{
	char path[64], line[256];
	char state = 'R';

	while (state != 'S') {
		FILE *file;

		usleep(2000);
		if (!waiter)
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)waiter);
		file = fopen(path, "re");
		if (!file)
			return;
		if (fgets(line, sizeof(line), file) && strrchr(line, ')'))
			state = strrchr(line, ')')[2];
		fclose(file);
	}
}

int main(int argc, char **argv)
{
	const int expected = argc > 1 ? atoi(argv[1]) : 0;
	pthread_t thread;

	pin(0, 1);
	if (pthread_create(&thread, NULL, wait_for_it, NULL))
		return 2;
	for (int i = 0; i < ROUNDS; i++) {
		await_sleep();
		word = i + 1;
		syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
	pthread_join(thread, NULL);
	printf("went on at CPU 0 %d times, at CPU 1 %d times\n", went_on_at[0], went_on_at[1]);
	return went_on_at[expected] < AT_LEAST;
}
