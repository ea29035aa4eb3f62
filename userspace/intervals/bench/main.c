// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Runs kernels under one runtime. Prints one JSON object per measured run and line:
 *
 *   {"benchmark":"fib","runtime":"serial","workers":1,"unit":"ns_per_task",
 *    "value":2.1,"check":"ok","peak_kib":1900}
 *
 * A wrong result has the value null. peak_kib is the process's peak resident memory so far.
 * "counts" is present if the runtime counts: intervals does with INTERVALS_STATISTICS=on. With
 * --instances=N each of N processes prints these lines, and their runs begin together.
 * Exit status: 0; 1: a run failed or had a wrong result; 2: bad usage; 3: the kernel is not written
 * for this runtime.
 */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "entering.h"
#include "idle.h"
#include "instances.h"

#define EXIT_USAGE 2
#define EXIT_NOT_WRITTEN 3
#define MAX_WORKERS 4096
#define MAX_REPEATS 1000000
#define MAX_INSTANCES 1024
/* What measure_fixed() runs first. */
#define WORK "fib"

struct options {
	unsigned int workers, size, repeats, instances;
	bool quick;
	const char *benchmark;
};

/* Its size and number of runs are its own. */
struct fixed_benchmark {
	const char *name, *unit;
	double (*measure)(const struct bench_runtime *runtime, unsigned int workers,
			  bool quick);
	bool (*possible)(const struct bench_runtime *runtime);
};

static const struct fixed_benchmark fixed_benchmarks[] = {
	{ "idle", "cpu_share", idle_share, NULL },
	{ "wake", "ns", idle_wake, idle_can_wake },
	{ "enter", "ns", entering_empty, entering_can_be_empty },
	{ "loop", "ns", entering_loop, entering_can_loop },
	{ "restart", "ns", entering_restart, NULL },
	{ 0 }
};

enum key { KEY_SIZE = 0x100, KEY_REPEATS, KEY_INSTANCES, KEY_QUICK, KEY_LIST };

static const struct argp_option argp_options[] = {
	{ "workers", 'w', "N", 0,
	  "threads that run tasks (default: one per CPU, or the runtime's maximum)", 0 },
	{ "size", KEY_SIZE, "N", 0, "of the problem (default: the benchmark's own)", 0 },
	{ "repeats", KEY_REPEATS, "N", 0, "measured runs (default: the benchmark's own)", 0 },
	{ "instances", KEY_INSTANCES, "N", 0,
	  "processes that measure at once, each with all workers (default: 1)", 0 },
	{ "quick", KEY_QUICK, NULL, 0, "a small problem, once: is the result right?", 0 },
	{ "list", KEY_LIST, NULL, 0, "list what this program can run, and exit", 0 },
	{ 0 }
};

static const struct fixed_benchmark *find_fixed(const char *name)
{
	const struct fixed_benchmark *fixed = fixed_benchmarks;

	while (fixed->name && strcmp(fixed->name, name))
		fixed++;
	return fixed->name ? fixed : NULL;
}

static bool can_run(const struct fixed_benchmark *fixed)
{
	return bench_find_form(WORK) && (!fixed->possible || fixed->possible(&bench_runtime));
}

static void list(void)
{
	for (const struct bench_form *form = bench_runtime.forms; form->kernel; form++)
		puts(form->kernel);
	for (const struct fixed_benchmark *fixed = fixed_benchmarks; fixed->name; fixed++)
		if (can_run(fixed))
			puts(fixed->name);
}

/* argp_error() does not return. */
static unsigned int number(struct argp_state *state, const char *text, unsigned int max)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || value < 1 || value > max)
		argp_error(state, "%s: not a number from 1 to %u", text, max);
	return value;
}

static unsigned int max_workers(void)
{
	return bench_runtime.max_workers ? bench_runtime.max_workers : MAX_WORKERS;
}

/* --quick and a fixed benchmark have their own size and number of runs. */
static void check_fixed(struct argp_state *state, const struct options *options)
{
	const char *fixed = options->quick ? "--quick" : options->benchmark;

	if (!options->quick && !find_fixed(options->benchmark))
		return;
	if (options->size)
		argp_error(state, "--size does not go with %s", fixed);
	if (options->repeats)
		argp_error(state, "--repeats does not go with %s", fixed);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 'w':
		options->workers = number(state, text, max_workers());
		return 0;
	case KEY_SIZE:
		options->size = number(state, text, INT_MAX);
		return 0;
	case KEY_REPEATS:
		options->repeats = number(state, text, MAX_REPEATS);
		return 0;
	case KEY_INSTANCES:
		options->instances = number(state, text, MAX_INSTANCES);
		return 0;
	case KEY_QUICK:
		options->quick = true;
		return 0;
	case KEY_LIST:
		list();
		exit(EXIT_SUCCESS);
	case ARGP_KEY_ARG:
		if (options->benchmark)
			argp_error(state, "one benchmark at a time");
		if (!bench_find_kernel(text) && !find_fixed(text))
			argp_error(state, "%s: no such benchmark", text);
		options->benchmark = text;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which benchmark? --list lists them");
		return 0;
	case ARGP_KEY_END:
		check_fixed(state, options);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void print(const struct options *options, const char *unit, double value, bool right)
{
	char text[32] = "null";

	if (right)
		snprintf(text, sizeof(text), "%.9g", value);
	printf("{\"benchmark\":\"%s\",\"runtime\":\"%s\",\"workers\":%u,\"unit\":\"%s\","
	       "\"value\":%s,\"check\":\"%s\",\"peak_kib\":%lu",
	       options->benchmark, bench_runtime.name, options->workers, unit, text,
	       right ? "ok" : "failed", bench_peak_kib());
	if (bench_runtime.print_counts)
		bench_runtime.print_counts();
	puts("}");
	fflush(stdout);
}

static int fail(const char *what, int error)
{
	fprintf(stderr, "%s: %s: %s\n", bench_runtime.name, what, strerror(error));
	return EXIT_FAILURE;
}

static bool measure_once(const struct options *options, const struct bench_kernel *kernel,
			 const struct bench_form *form, bool counts)
{
	uint64_t begun = bench_now_ns(), took;
	bool right;

	bench_runtime.enter(form->run);
	took = bench_now_ns() - begun;
	right = kernel->check();
	if (!right)
		fprintf(stderr, "%s: wrong result\n", bench_runtime.name);
	else if (!counts)
		return true;
	if (kernel->tasks)
		print(options, "ns_per_task", (double)took / (double)kernel->tasks(), right);
	else
		print(options, "seconds", (double)took / 1e9, right);
	return right;
}

static int measure_kernel(const struct options *options, const struct bench_kernel *kernel)
{
	const struct bench_form *form = bench_find_form(kernel->name);
	unsigned int warmups = options->quick ? 0 : kernel->warmups;
	unsigned int repeats = options->repeats ? options->repeats : kernel->repeats;
	unsigned int size = options->size ? options->size : kernel->size;

	if (options->quick) {
		size = kernel->quick_size;
		repeats = 1;
	}
	for (unsigned int i = 0; i < warmups + repeats; i++) {
		int error = kernel->prepare(size);

		if (error)
			return fail("the benchmark cannot be made ready", error);
		instances_meet();
		if (!measure_once(options, kernel, form, i >= warmups))
			return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}

/* Some work first: a runtime may start its threads late. */
static int measure_fixed(const struct options *options, const struct fixed_benchmark *fixed)
{
	const struct bench_kernel *kernel = bench_find_kernel(WORK);
	int error = kernel->prepare(kernel->quick_size);
	bool right;

	if (error)
		return fail("the benchmark cannot be made ready", error);
	bench_runtime.enter(bench_find_form(kernel->name)->run);
	right = kernel->check();
	instances_meet();
	print(options, fixed->unit,
	      fixed->measure(&bench_runtime, options->workers, options->quick), right);
	return right ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int measure(const struct options *options)
{
	const struct bench_kernel *kernel = bench_find_kernel(options->benchmark);
	const struct fixed_benchmark *fixed = find_fixed(options->benchmark);
	int error, status;

	if (kernel ? !bench_find_form(kernel->name) : !can_run(fixed)) {
		fprintf(stderr, "%s: %s is not written for it\n", bench_runtime.name,
			options->benchmark);
		return EXIT_NOT_WRITTEN;
	}
	error = bench_runtime.start(options->workers);
	if (error)
		return fail("cannot be started", error);
	status = kernel ? measure_kernel(options, kernel) : measure_fixed(options, fixed);
	bench_runtime.stop();
	return status;
}

struct job {
	const struct options *options;
	int status;
};

static void *run_job(void *arg)
{
	struct job *job = (struct job *)arg;

	job->status = measure(job->options);
	return NULL;
}

/* In a thread, since some runtimes run tasks on their caller's stack. */
static int run_on_large_stack(const void *options)
{
	struct job job = { .options = options };
	pthread_attr_t attributes;
	pthread_t thread;
	int error;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, BENCH_STACK_BYTES);
	error = pthread_create(&thread, &attributes, run_job, &job);
	pthread_attr_destroy(&attributes);
	if (error)
		return fail("no thread", error);
	pthread_join(thread, NULL);
	return job.status;
}

int main(int argc, char **argv)
{
	static const struct argp argp = { argp_options, parse, "BENCHMARK",
		"Measure one benchmark; one JSON object per run and line.", NULL, NULL, NULL };
	struct options options = { .instances = 1 };
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	argp_err_exit_status = EXIT_USAGE;
	options.workers = cpus > 0 ? cpus : 1;
	if (options.workers > max_workers())
		options.workers = max_workers();
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	return instances_run(options.instances, run_on_large_stack, &options);
}
