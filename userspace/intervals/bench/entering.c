// SPDX-License-Identifier: LGPL-2.1-or-later
#include "entering.h"

#define SAMPLES 201
#define QUICK_SAMPLES 3
/* Calls per sample: one takes less than the clock can tell. */
#define CALLS 200
#define RESTARTS 51

static void nothing(void)
{
}

static void enter_often(const struct bench_runtime *runtime)
{
	for (int i = 0; i < CALLS; i++)
		runtime->here(nothing);
}

static void add_one(size_t begin, size_t end, void *arg)
{
	unsigned int *array = (unsigned int *)arg;

	for (size_t i = begin; i < end; i++)
		array[i]++;
}

static void loop_often(const struct bench_runtime *runtime)
{
	unsigned int array[ENTERING_INDICES] = { 0 };

	for (int i = 0; i < CALLS; i++)
		runtime->loop(0, ENTERING_INDICES, add_one, array);
	for (int i = 0; i < ENTERING_INDICES; i++)
		if (array[i] != CALLS)
			abort();
}

/* Of one call. */
static double median_of(void (*often)(const struct bench_runtime *runtime),
			const struct bench_runtime *runtime, bool quick)
{
	const unsigned int samples = quick ? QUICK_SAMPLES : SAMPLES;
	uint64_t took[SAMPLES];

	often(runtime);
	for (unsigned int i = 0; i < samples; i++) {
		const uint64_t begun = bench_now_ns();

		often(runtime);
		took[i] = bench_now_ns() - begun;
	}
	return bench_median(took, samples) / CALLS;
}

double entering_empty(const struct bench_runtime *runtime, unsigned int workers, bool quick)
{
	return median_of(enter_often, runtime, quick);
}

bool entering_can_be_empty(const struct bench_runtime *runtime)
{
	return runtime->here;
}

double entering_loop(const struct bench_runtime *runtime, unsigned int workers, bool quick)
{
	return median_of(loop_often, runtime, quick);
}

bool entering_can_loop(const struct bench_runtime *runtime)
{
	return runtime->loop;
}

double entering_restart(const struct bench_runtime *runtime, unsigned int workers, bool quick)
{
	const unsigned int samples = quick ? QUICK_SAMPLES : RESTARTS;
	uint64_t took[RESTARTS];

	for (unsigned int i = 0; i < samples; i++) {
		const uint64_t begun = bench_now_ns();

		runtime->stop();
		if (runtime->start(workers))
			abort();
		took[i] = bench_now_ns() - begun;
	}
	return bench_median(took, samples);
}
