// SPDX-License-Identifier: LGPL-2.1-or-later
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

#include "idle.h"

#define NS_PER_S 1000000000
#define NS_PER_MS 1000000

/* Longer than any of the runtimes spins before it sleeps. */
#define SETTLE_NS NS_PER_S
#define IDLE_NS (3 * (uint64_t)NS_PER_S)
#define QUICK_NS (10 * NS_PER_MS)

#define WAKES 101
#define QUICK_WAKES 3
#define WAKE_PAUSE_NS (20 * NS_PER_MS)

static void sleep_ns(uint64_t ns)
{
	struct timespec time = { .tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S };

	nanosleep(&time, NULL);
}

static uint64_t cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * NS_PER_S + time.tv_nsec;
}

double idle_share(const struct bench_runtime *runtime, unsigned int workers, bool quick)
{
	uint64_t cpu, time;

	sleep_ns(quick ? QUICK_NS : SETTLE_NS);
	cpu = cpu_ns();
	time = bench_now_ns();
	sleep_ns(quick ? QUICK_NS : IDLE_NS);
	return (double)(cpu_ns() - cpu) / (double)(bench_now_ns() - time);
}

struct wake {
	uint64_t begun;
	sem_t done;
};

static void woken(void *arg)
{
	struct wake *wake = (struct wake *)arg;

	wake->begun = bench_now_ns();
	sem_post(&wake->done);
}

bool idle_can_wake(const struct bench_runtime *runtime)
{
	return runtime->submit;
}

double idle_wake(const struct bench_runtime *runtime, unsigned int workers, bool quick)
{
	unsigned int wakes = quick ? QUICK_WAKES : WAKES;
	uint64_t latency[WAKES];
	struct wake wake;

	sem_init(&wake.done, 0, 0);
	sleep_ns(quick ? QUICK_NS : SETTLE_NS);
	for (unsigned int i = 0; i < wakes; i++) {
		uint64_t submitted;

		sleep_ns(WAKE_PAUSE_NS);
		submitted = bench_now_ns();
		runtime->submit(woken, &wake);
		sem_wait(&wake.done);
		latency[i] = wake.begun - submitted;
	}
	sem_destroy(&wake.done);
	return bench_median(latency, wakes);
}
