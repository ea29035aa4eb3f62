// SPDX-License-Identifier: GPL-2.0
/* The course of a run; see bench.h. */
#include <errno.h>
#include <error.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "gate.h"
#include "layout.h"
#include "options.h"
#include "results.h"
#include "roi.h"
#include "sched_stat.h"
#include "think.h"

/* Enough for these workers, and 1024 of them fit any machine. */
#define STACK_SIZE (64 * 1024)
/* Some hundred microseconds: several times what it takes to start a thread or to wake one. */
#define STAGGER_STEPS (1 << 15)

static const struct bench *bench;
static struct gate gate;
static struct padded workers;

uint64_t thread_share(const struct options *opt, uint64_t total, unsigned int id)
{
	uint64_t groups = opt->threads / opt->group;
	uint64_t rounds = total / opt->group;

	return rounds / groups + (id / opt->group < rounds % groups);
}

uint64_t thread_iterations(const struct options *opt, unsigned int id)
{
	return thread_share(opt, opt->warmup, id) + thread_share(opt, opt->iterations, id);
}

void verdict_fail(struct verdict *verdict, const char *format, ...)
{
	va_list args;

	if (verdict->failed)
		return;
	verdict->failed = true;
	va_start(args, format);
	vsnprintf(verdict->detail, sizeof(verdict->detail), format, args);
	va_end(args);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void do_share(struct worker *w, uint64_t total)
{
	uint64_t share = thread_share(w->opt, total, w->id);

	for (uint64_t i = 0; i < share; i++) {
		bench->iterate(w);
		w->done++;
	}
	if (bench->sit_out && share < thread_share(w->opt, total, 0))
		bench->sit_out(w);
}

/*
 * The CPU of a thread depends on the CPUs that are busy when it starts, and on the
 * time of its wake-up. Each seed makes another order; else five seeds would all
 * measure the one order that the kernel happens to make.
 */
static void stagger(struct worker *w)
{
	uint64_t steps = mix64(w->random) % STAGGER_STEPS;

	while (steps--)
		w->random = xorshift64(w->random);
}

static void *work(void *arg)
{
	struct worker *w = arg;

	w->tid = gettid();
	stagger(w);
	gate_pass(&gate);
	stagger(w);
	do_share(w, w->opt->warmup);
	gate_pass(&gate);
	do_share(w, w->opt->iterations);
	w->finish_ns = now_ns();
	gate_pass(&gate);
	return NULL;
}

static void start_threads(const struct options *opt, pthread_t *threads)
{
	pthread_attr_t attr;

	workers = padded_alloc(opt->threads, sizeof(struct worker), opt->line);
	gate.workers = opt->threads;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	for (unsigned int i = 0; i < opt->threads; i++) {
		struct worker *w = padded_at(&workers, i);
		int err;

		w->opt = opt;
		w->id = i;
		w->random = think_seed(opt->seed, i);
		err = pthread_create(&threads[i], &attr, work, w);
		if (err)
			error(1, err, "cannot create thread %u of %u: lower --threads, or raise the "
			      "limits on processes and memory (ulimit -u, -v)", i + 1, opt->threads);
	}
	pthread_attr_destroy(&attr);
}

/* The workers' counts so far. They stand at a gate. */
static struct sched_stat read_sched_stat(const struct options *opt)
{
	struct sched_stat sum = { .has_migrations = true };

	for (unsigned int i = 0; i < opt->threads; i++) {
		const struct worker *w = padded_at(&workers, i);

		if (!sched_stat_add(&sum, w->tid))
			return sched_stat_of_process();
	}
	return sum;
}

static void fill_throughput(struct results *r, uint64_t start_ns)
{
	const struct options *opt = r->opt;

	for (unsigned int i = 0; i < opt->threads; i++) {
		const struct worker *w = padded_at(&workers, i);
		uint64_t elapsed = w->finish_ns - start_ns;

		if (!elapsed)
			error(1, 0, "the clock did not advance during the run: raise --iterations");
		if (elapsed > r->elapsed_ns)
			r->elapsed_ns = elapsed;
		r->thread_throughput[i] =
			(double)thread_share(opt, opt->iterations, i) * 1e9 / (double)elapsed;
	}
}

int bench_main(const struct bench *which, int argc, char **argv)
{
	struct options opt = options_parse(which, argc, argv);
	double thread_throughput[MAX_THREADS];
	pthread_t threads[MAX_THREADS];
	struct results results = {
		.benchmark = which->name,
		.opt = &opt,
		.thread_throughput = thread_throughput,
	};
	struct sched_stat before;
	uint64_t start_ns;

	bench = which;
	bench->setup(&opt);
	start_threads(&opt, threads);

	gate_await(&gate);
	roi_warmup();
	gate_open(&gate);

	gate_await(&gate);
	before = read_sched_stat(&opt);
	roi_begin();
	start_ns = now_ns();
	gate_open(&gate);

	gate_await(&gate);
	roi_end();
	results.sched = read_sched_stat(&opt);
	gate_open(&gate);

	for (unsigned int i = 0; i < opt.threads; i++)
		pthread_join(threads[i], NULL);

	results.sched.context_switches -= before.context_switches;
	results.sched.migrations -= before.migrations;
	fill_throughput(&results, start_ns);
	bench->check(&opt, &results.verdict);
	results_print(&results);
	return results.verdict.failed;
}
