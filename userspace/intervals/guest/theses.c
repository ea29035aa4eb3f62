// SPDX-License-Identifier: GPL-2.0
/*
 * One run of a benchmark of the intervals runtime, as a region of interest of the
 * simulated machine, whose jobs have no environment: it stands before the rest.
 *
 *	theses_RUNTIME [NAME=VALUE ...] BENCHMARK SIZE WORKERS
 *
 * SIZE may be "quick": that of the benchmark's tests. MEMORY_MIB=N is how much it may map at most,
 * so that it has no more stacks at some time.
 *
 * Prints one line of JSON, as the benchmark programs do (userspace/intervals/bench/main.c).
 * Exit status: 0; 1 where something could not run or has a wrong result; 2 for bad usage.
 */
#include <errno.h>
#include <error.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "bench.h"
#include "in_guest.h"
#include "roi.h"

#define MAX_WORKERS 64
#define MEMORY "MEMORY_MIB="

static void set(char *variable)
{
	size_t length = strlen(MEMORY);
	struct rlimit limit;

	if (strncmp(variable, MEMORY, length)) {
		putenv(variable);
		return;
	}
	limit.rlim_cur = (rlim_t)number(MEMORY, variable + length, UINT32_MAX) << 20;
	limit.rlim_max = limit.rlim_cur;
	if (setrlimit(RLIMIT_AS, &limit))
		error(EXIT_FAILURE, errno, "%s", variable);
}

/* Returns the run's time. No other thread runs when it begins. */
static uint64_t measure(const struct bench_form *form)
{
	uint64_t begun;

	nanosleep(&(struct timespec){ .tv_nsec = ASLEEP_NS }, NULL);
	roi_warmup();
	roi_begin();
	begun = bench_now_ns();
	bench_runtime.enter(form->run);
	begun = bench_now_ns() - begun;
	roi_end();
	return begun;
}

int main(int argc, char **argv)
{
	const struct bench_kernel *kernel;
	const struct bench_form *form;
	unsigned int size, workers;
	uint64_t took;
	int failure;

	for (; argc > 1 && strchr(argv[1], '='); argc--, argv++)
		set(argv[1]);
	if (argc != 4)
		error(EXIT_USAGE, 0, "usage: theses_%s [NAME=VALUE ...] BENCHMARK SIZE WORKERS",
		      bench_runtime.name);
	kernel = bench_find_kernel(argv[1]);
	form = bench_find_form(argv[1]);
	if (!kernel)
		error(EXIT_USAGE, 0, "BENCHMARK %s: there is none", argv[1]);
	if (!form)
		error(EXIT_USAGE, 0, "BENCHMARK %s: not written for %s", argv[1],
		      bench_runtime.name);
	size = strcmp(argv[2], "quick") ? number("SIZE", argv[2], UINT32_MAX) : kernel->quick_size;
	workers = number("WORKERS", argv[3], MAX_WORKERS);

	failure = bench_runtime.start(workers);
	if (failure)
		error(EXIT_FAILURE, failure, "%s cannot be started", bench_runtime.name);
	failure = kernel->prepare(size);
	if (failure)
		error(EXIT_FAILURE, failure, "%s cannot be made ready for SIZE %u", argv[1], size);
	took = measure(form);
	if (!kernel->check())
		error(EXIT_FAILURE, 0, "%s of %u: the result is wrong", argv[1], size);

	printf("{\"benchmark\":\"%s\",\"runtime\":\"%s\",\"workers\":%u,\"unit\":\"seconds\","
	       "\"value\":%.9f,\"check\":\"ok\",\"peak_kib\":%lu", argv[1], bench_runtime.name,
	       workers, (double)took / 1e9, bench_peak_kib());
	if (bench_runtime.print_counts)
		bench_runtime.print_counts();
	puts("}");
	bench_runtime.stop();
	return EXIT_SUCCESS;
}
