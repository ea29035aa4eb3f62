// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <error.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/options.h"
#include "common/sched_stat.h"
#include "roi.h"
#include "tasks.h"

/* Longer than a worker without work looks for some. */
#define ASLEEP_NS 2000000

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void let_workers_fall_asleep(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = ASLEEP_NS }, NULL);
}

/* The counts so far of all threads of the process. */
static struct sched_stat read_sched_stat(void)
{
	struct sched_stat sum = { .has_migrations = true };
	DIR *threads = opendir("/proc/self/task");
	struct dirent *thread;
	bool known = threads;

	while (known && (thread = readdir(threads)))
		if (thread->d_name[0] != '.')
			known = sched_stat_add(&sum, atoi(thread->d_name));
	if (threads)
		closedir(threads);
	return known ? sum : sched_stat_of_process();
}

static ivl_runtime *start_runtime(const struct options *opt)
{
	struct ivl_config config;
	ivl_runtime *runtime;

	if (ivl_config_init(&config))
		error(1, 0, "%s", ivl_last_error());
	config.workers = opt->threads;
	config.places = IVL_PLACES_ONE;
	if (ivl_start(&config, &runtime))
		error(1, 0, "%s", ivl_last_error());
	return runtime;
}

/* As microbench prints it, without the threads' counts: any worker may run a task. */
static void print(const char *name, const struct options *opt, uint64_t elapsed_ns,
		  const struct sched_stat *sched, const struct verdict *verdict)
{
	printf("{\"schema\":1,\"benchmark\":\"%s\",\"threads\":%u,\"iterations\":%" PRIu64
	       ",\"warmup\":%" PRIu64 ",\"seed\":%" PRIu64 ",\"cs_lines\":%u,\"think\":%u"
	       ",\"line\":%u,\"elapsed_ns\":%" PRIu64 ",\"context_switches\":%" PRIu64, name,
	       opt->threads, opt->iterations, opt->warmup, opt->seed, opt->cs_lines, opt->think,
	       opt->line, elapsed_ns, sched->context_switches);
	if (sched->has_migrations)
		printf(",\"migrations\":%" PRIu64, sched->migrations);
	printf(",\"check\":\"%s\",\"check_detail\":\"%s\"}\n",
	       verdict->failed ? "failed" : "ok", verdict->detail);
}

int main(int argc, char **argv)
{
	const struct tasks *tasks = &tasks_benchmark;
	const struct options opt = options_parse(&tasks->bench, argc, argv);
	ivl_runtime *runtime = start_runtime(&opt);
	struct verdict verdict = { 0 };
	struct sched_stat before, sched;
	uint64_t start_ns, elapsed_ns;

	tasks->bench.setup(&opt);
	let_workers_fall_asleep();
	roi_warmup();
	tasks->run(&opt, runtime, 0, opt.warmup);
	let_workers_fall_asleep();

	before = read_sched_stat();
	roi_begin();
	start_ns = now_ns();
	tasks->run(&opt, runtime, opt.warmup, opt.iterations);
	elapsed_ns = now_ns() - start_ns;
	roi_end();
	sched = read_sched_stat();

	ivl_stop(runtime);
	sched.context_switches -= before.context_switches;
	sched.migrations -= before.migrations;
	tasks->bench.check(&opt, &verdict);
	print(tasks->bench.name, &opt, elapsed_ns, &sched, &verdict);
	return verdict.failed;
}
