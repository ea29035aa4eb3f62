// SPDX-License-Identifier: GPL-2.0
/*
 * spread THREADS: one thread wakes THREADS threads, each of which runs for 200 us. Prints the number
 * of CPUs that they ran on, as one JSON object.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define MOST 64
#define BUSY_NS 200000
#define ASLEEP_US 200

struct sleeper {
	pthread_t thread;
	sem_t wake;
	int cpu;
};

static long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void *sleep_and_work(void *arg)
{
	struct sleeper *sleeper = arg;
	long end;

	sem_wait(&sleeper->wake);
	sleeper->cpu = sched_getcpu();
	end = now_ns() + BUSY_NS;
	while (now_ns() < end)
		;
	return NULL;
}

int main(int argc, char *argv[])
{
	static struct sleeper sleepers[MOST];
	const int threads = argc == 2 ? atoi(argv[1]) : 0;
	cpu_set_t cpus;

	if (threads < 1 || threads > MOST)
		return 2;
	for (int i = 0; i < threads; i++) {
		sem_init(&sleepers[i].wake, 0, 0);
		if (pthread_create(&sleepers[i].thread, NULL, sleep_and_work, &sleepers[i]))
			return 1;
	}
	usleep(ASLEEP_US);
	for (int i = 0; i < threads; i++)
		sem_post(&sleepers[i].wake);
	CPU_ZERO(&cpus);
	for (int i = 0; i < threads; i++) {
		pthread_join(sleepers[i].thread, NULL);
		CPU_SET(sleepers[i].cpu, &cpus);
	}
	printf("{\"cpus\": %d}\n", CPU_COUNT(&cpus));
	return 0;
}
