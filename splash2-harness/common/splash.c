// SPDX-License-Identifier: GPL-2.0
/* The course of a run; see splash.h. */
#include <error.h>
#include <stdlib.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "arguments.h"
#include "clock.h"
#include "common/gate.h"
#include "common/think.h"
#include "report.h"
#include "roi.h"
#include "splash.h"

/* Before the counted phase, at most: some of the kernel's ticks. */
#define LONGEST_PAUSE_NS 10000000
/* The programs' recursions, over trees, are less than a hundred frames deep. */
#define STACK_SIZE (1024 * 1024)

/* What the controlling thread knows of a worker, on lines of its own. */
struct slot {
	_Alignas(128) struct splash_worker worker;
	pthread_t thread;
	uint64_t busy_ns;	/* CPU time when the counted phase began */
};

static const struct splash_program *running;
static struct gate gate;
static struct slot *slots;

static void *work(void *arg)
{
	struct splash_worker *w = arg;

	w->tid = gettid();
	gate_pass(&gate);
	if (running->warmup)
		running->warmup(w);
	w->profile = (struct splash_profile){ 0 };
	gate_pass(&gate);
	running->work(w);
	w->finish_ns = clock_ns(CLOCK_MONOTONIC);
	gate_pass(&gate);
	return NULL;
}

static void start_threads(const struct splash_options *opt)
{
	pthread_attr_t attr;

	slots = splash_alloc(opt->threads, sizeof(*slots));
	gate.workers = opt->threads;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	for (unsigned int i = 0; i < opt->threads; i++) {
		int err;

		slots[i].worker.opt = opt;
		slots[i].worker.id = i;
		err = pthread_create(&slots[i].thread, &attr, work, &slots[i].worker);
		if (err)
			error(1, err, "cannot create thread %u of %u: lower --threads, or raise the "
			      "limits on processes and memory (ulimit -u, -v)", i + 1, opt->threads);
	}
	pthread_attr_destroy(&attr);
}

static uint64_t cpu_time(const struct slot *slot)
{
	clockid_t clock;

	pthread_getcpuclockid(slot->thread, &clock);
	return clock_ns(clock);
}

/* The workers' counts so far. They stand at a gate. */
static struct sched_stat read_sched_stat(const struct splash_options *opt)
{
	struct sched_stat sum = { .has_migrations = true };

	for (unsigned int i = 0; i < opt->threads; i++)
		if (!sched_stat_add(&sum, slots[i].worker.tid))
			return sched_stat_of_process();
	return sum;
}

static void collect(struct report *r, uint64_t start_ns)
{
	for (unsigned int i = 0; i < r->opt->threads; i++) {
		const struct splash_profile *p = &slots[i].worker.profile;
		uint64_t elapsed = slots[i].worker.finish_ns - start_ns;

		if (elapsed > r->elapsed_ns)
			r->elapsed_ns = elapsed;
		r->profile.locks += p->locks;
		r->profile.barriers += p->barriers;
		r->profile.flags += p->flags;
		r->profile.contended += p->contended;
		r->profile.lock_ns += p->lock_ns;
		r->profile.barrier_ns += p->barrier_ns;
		r->profile.flag_ns += p->flag_ns;
	}
	if (!r->elapsed_ns)
		error(1, 0, "the clock did not advance during the run: choose a larger problem");
}

/*
 * Some programs take the same steps whatever their input is. Where a run can be repeated to the last
 * digit they would be the same with every seed: so it also says when the phase begins.
 */
static void pause_by(uint64_t seed)
{
	const struct timespec pause = { .tv_nsec = (long)(mix64(seed) % LONGEST_PAUSE_NS) };

	nanosleep(&pause, NULL);
}

int splash_main(const struct splash_program *which, int argc, char **argv)
{
	struct splash_options opt = arguments_parse(which, argc, argv);
	double busy_ns[SPLASH_MAX_THREADS];
	struct report report = { .program = which, .opt = &opt, .busy_ns = busy_ns };
	struct sched_stat before;
	uint64_t start_ns;

	running = which;
	which->setup(&opt);
	start_threads(&opt);

	gate_await(&gate);
	roi_warmup();
	gate_open(&gate);

	gate_await(&gate);
	pause_by(opt.seed);
	before = read_sched_stat(&opt);
	for (unsigned int i = 0; i < opt.threads; i++)
		slots[i].busy_ns = cpu_time(&slots[i]);
	roi_begin();
	start_ns = clock_ns(CLOCK_MONOTONIC);
	gate_open(&gate);

	gate_await(&gate);
	roi_end();
	for (unsigned int i = 0; i < opt.threads; i++)
		busy_ns[i] = (double)(cpu_time(&slots[i]) - slots[i].busy_ns);
	report.sched = read_sched_stat(&opt);
	gate_open(&gate);

	for (unsigned int i = 0; i < opt.threads; i++)
		pthread_join(slots[i].thread, NULL);

	report.sched.context_switches -= before.context_switches;
	report.sched.migrations -= before.migrations;
	collect(&report, start_ns);
	free(slots);
	report.result = which->result();
	which->check(&opt, &report.verdict);
	report_print(&report);
	return report.verdict.failed;
}
