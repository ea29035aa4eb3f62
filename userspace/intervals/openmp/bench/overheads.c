// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a construct of OpenMP costs, by the method of EPCC's microbenchmarks (Bull, "Measuring
 * Synchronisation and Scheduling Overheads in OpenMP", 1999): a delay inside of the construct, many
 * times, less as many delays without it, for each. The reference is measured before each sample, so
 * that the machine is the same for both. Our own code.
 *
 *	overheads --workers=N CONSTRUCT		or SCHEDULE, or SCHEDULE-CHUNK
 *
 * Prints one JSON object per sample and line, as the programs of intervals/bench do; a sample may
 * be less than 0, where the clock and the machine differ by more than the construct costs. Exit
 * status: 0; 1 for a wrong count of what ran; 2 for bad usage.
 */
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SAMPLES = 20, EACH = 128, QUICK_TIMES = 16, EXIT_USAGE = 2 };

/* The least length of a sample's runs and a delay's, in seconds. */
#define SAMPLE 2e-3
#define DELAY 1e-7

static int delay_length, threads;
static long times;			/* of the construct, in a sample */
static long ran;			/* delays, by atomic or alone */
static omp_lock_t mutex;

static __attribute__((noinline)) void delay(void)
{
	volatile float sum = 0;

	for (int i = 0; i < delay_length; i++)
		sum = sum + (float)i;
}

/* All constructs count what they ran, which costs the reference as much. */
static void work(long *count)
{
	delay();
	++*count;
}

static void add(long count)
{
#pragma omp atomic
	ran += count;
}

static void reference(void)
{
	long count = 0;

	for (long i = 0; i < times; i++)
		work(&count);
	add(count);
}

static void parallel(void)
{
	for (long i = 0; i < times; i++) {
#pragma omp parallel
		{
			delay();
			if (omp_get_thread_num() == 0)
				ran++;
		}
	}
}

static void parallel_for(void)
{
	for (long i = 0; i < times; i++) {
#pragma omp parallel for
		for (int j = 0; j < threads; j++) {
			delay();
			if (j == 0)
				ran++;
		}
	}
}

static void reduction(void)
{
	for (long i = 0; i < times; i++) {
		long sum = 0;

#pragma omp parallel reduction(+ : sum)
		{
			delay();
			sum++;
		}
		ran += sum == threads;
	}
}

static void loop(void)
{
#pragma omp parallel
	{
		long count = 0;

		for (long i = 0; i < times; i++) {
#pragma omp for
			for (int j = 0; j < threads; j++)
				work(&count);
		}
		if (omp_get_thread_num() == 0)
			add(count);
	}
}

static void barrier(void)
{
#pragma omp parallel
	{
		long count = 0;

		for (long i = 0; i < times; i++) {
			work(&count);
#pragma omp barrier
		}
		if (omp_get_thread_num() == 0)
			add(count);
	}
}

static void single(void)
{
#pragma omp parallel
	{
		long count = 0;

		for (long i = 0; i < times; i++) {
#pragma omp single
			work(&count);
		}
		add(count);
	}
}

/* From here on the threads share the sample's delays, one of which is at a time. */
static long own_times(void)
{
	const long number = omp_get_thread_num();

	return times * (number + 1) / threads - times * number / threads;
}

static void critical(void)
{
#pragma omp parallel
	{
		const long own = own_times();

		for (long i = 0; i < own; i++) {
#pragma omp critical
			work(&ran);
		}
	}
}

static void lock(void)
{
#pragma omp parallel
	{
		const long own = own_times();

		for (long i = 0; i < own; i++) {
			omp_set_lock(&mutex);
			work(&ran);
			omp_unset_lock(&mutex);
		}
	}
}

static void ordered(void)
{
#pragma omp parallel for ordered schedule(static, 1)
	for (long i = 0; i < times; i++) {
#pragma omp ordered
		work(&ran);
	}
}

/* Without delays: what is atomic is one addition, and in the reference it is not. */
static void atomic_reference(void)
{
	volatile long sum = 0;

	for (long i = 0; i < times; i++)
		sum = sum + 1;
	ran += sum;
}

static void atomic(void)
{
#pragma omp parallel
	{
		const long own = own_times();

		for (long i = 0; i < own; i++) {
#pragma omp atomic
			ran++;
		}
	}
}

/* A loop with a constant number of delays for each thread; the reference is one thread's. */
static void schedule_reference(void)
{
	long count = 0;

	for (long i = 0; i < times * EACH; i++)
		work(&count);
	add(count);
}

static void schedule(void)
{
#pragma omp parallel
	{
		long count = 0;

		for (long i = 0; i < times; i++) {
#pragma omp for schedule(runtime)
			for (int j = 0; j < EACH * threads; j++)
				work(&count);
		}
		add(count);
	}
	ran = ran % threads ? -1 : ran / threads;
}

struct construct {
	const char *name;
	void (*run)(void), (*reference)(void);
	long each;			/* delays of a time, in the reference */
};

static const struct construct constructs[] = {
	{ "parallel", parallel, reference, 1 },
	{ "for", loop, reference, 1 },
	{ "parallel_for", parallel_for, reference, 1 },
	{ "barrier", barrier, reference, 1 },
	{ "single", single, reference, 1 },
	{ "critical", critical, reference, 1 },
	{ "lock", lock, reference, 1 },
	{ "ordered", ordered, reference, 1 },
	{ "atomic", atomic, atomic_reference, 1 },
	{ "reduction", reduction, reference, 1 },
	{ 0 }
};

static const struct construct scheduled = { "", schedule, schedule_reference, EACH };

/* SCHEDULE or SCHEDULE-CHUNK. */
static bool set_schedule(const char *name)
{
	static const char *const names[] = { "static", "dynamic", "guided" };

	for (int i = 0; i < 3; i++) {
		const size_t length = strlen(names[i]);
		int chunk = 0;
		char end;

		if (strncmp(name, names[i], length))
			continue;
		if (name[length] && (sscanf(name + length, "-%d%c", &chunk, &end) != 1 || chunk < 1))
			return false;
		omp_set_schedule((omp_sched_t)(omp_sched_static + i), chunk);
		return true;
	}
	return false;
}

static const struct construct *find(const char *name)
{
	const struct construct *construct = constructs;

	while (construct->name && strcmp(construct->name, name))
		construct++;
	if (construct->name)
		return construct;
	return set_schedule(name) ? &scheduled : NULL;
}

/* Not omp_get_wtime(), which has microseconds in some libraries. */
static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double took(void (*run)(void))
{
	const double begin = now();

	run();
	return now() - begin;
}

/* One run may have met another program's. */
static double least(void (*run)(void))
{
	double least = took(run);

	for (int i = 0; i < 2 && least >= SAMPLE; i++) {
		const double once = took(run);

		if (once < least)
			least = once;
	}
	return least;
}

static void many_delays(void)
{
	for (int i = 0; i < 1000; i++)
		delay();
}

static void set_delay(void)
{
	delay_length = 1;
	while (took(many_delays) < 1000 * DELAY)
		delay_length += delay_length / 4 + 1;
}

/* As often as takes a sample's length. */
static void set_times(const struct construct *construct)
{
	times = threads;
	while (least(construct->run) < SAMPLE && times < 1L << 24)
		times *= 2;
}

/* True: all ran that should. */
static bool sample(const struct construct *construct, const char *name)
{
	double without, with;
	bool right;

	ran = 0;
	without = took(construct->reference);
	right = ran == times * construct->each;
	ran = 0;
	with = took(construct->run);
	right = right && ran == times * construct->each;
	printf("{\"benchmark\":\"%s\",\"workers\":%d,\"unit\":\"ns\",\"value\":", name, threads);
	if (right)
		printf("%.6g", 1e9 * (with - without) / (double)times);
	else
		printf("null");
	printf(",\"check\":\"%s\",\"peak_kib\":0}\n", right ? "ok" : "failed");
	return right;
}

int main(int argc, char **argv)
{
	const struct construct *construct = NULL;
	bool right = true, quick = false;
	const char *name = NULL;

	threads = omp_get_max_threads();
	for (int i = 1; i < argc; i++) {
		char end;

		if (!strcmp(argv[i], "--quick"))
			quick = true;
		else if (sscanf(argv[i], "--workers=%d%c", &threads, &end) != 1)
			name = argv[i];
	}
	if (name && threads > 0)
		construct = find(name);
	if (!construct) {
		fprintf(stderr, "usage: %s [--workers=N] [--quick] CONSTRUCT\n", argv[0]);
		return EXIT_USAGE;
	}
	omp_init_lock(&mutex);
	omp_set_dynamic(0);
	omp_set_num_threads(threads);
	set_delay();
	if (quick)
		times = (long)threads * QUICK_TIMES;
	else
		set_times(construct);
	for (int i = 0; i < (quick ? 1 : SAMPLES) && right; i++)
		right = sample(construct, name);
	omp_destroy_lock(&mutex);
	return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
