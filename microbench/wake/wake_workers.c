// SPDX-License-Identifier: GPL-2.0
/*
 * One thread sends messages, the rest are workers, as in schbench: a worker asks and sleeps, the
 * sender wakes each that has asked, and the worker works. How long is it from the sender's message
 * to the worker that runs?
 */
#include <error.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../common/bench.h"
#include "../common/layout.h"
#include "../common/list.h"
#include "../common/think.h"
#include "histogram.h"

#define NAME "wake_workers"
#define EXIT_USAGE 2

enum { RUNNING, BLOCKED };

struct place {
	atomic_uint state;
	atomic_bool asks;
	uint64_t sent_ns;
	struct histogram wakeups;	/* from the message to the worker, in the counted part */
};

static struct padded places;	/* of each thread; the first is the sender's */
static uint64_t rounds, sent;	/* the sender's */
static struct histogram all;
static bool json;

static struct place *place_of(unsigned int id)
{
	return padded_at(&places, id);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void sleep_while_blocked(struct place *place)
{
	while (atomic_load(&place->state) == BLOCKED)
		syscall(SYS_futex, &place->state, FUTEX_WAIT_PRIVATE, BLOCKED, NULL);
}

static void wake(struct place *place)
{
	if (atomic_exchange(&place->state, RUNNING) == BLOCKED)
		syscall(SYS_futex, &place->state, FUTEX_WAKE_PRIVATE, 1);
}

static uint64_t answer_all(unsigned int threads)
{
	uint64_t answered = 0;

	for (unsigned int id = 1; id < threads; id++) {
		struct place *worker = place_of(id);

		if (!atomic_exchange(&worker->asks, false))
			continue;
		worker->sent_ns = now_ns();
		wake(worker);
		answered++;
	}
	return answered;
}

/* One iteration of the sender is one of each worker, in any order. */
static void send(const struct worker *w)
{
	struct place *mine = place_of(0);

	rounds++;
	while (sent < rounds * (w->opt->threads - 1)) {
		uint64_t answered;

		/* Before the search: a worker that asks after it wakes the sender. */
		atomic_store(&mine->state, BLOCKED);
		answered = answer_all(w->opt->threads);
		sent += answered;
		if (!answered)
			sleep_while_blocked(mine);
	}
}

static void ask(unsigned int id)
{
	struct place *mine = place_of(id);

	atomic_store(&mine->state, BLOCKED);
	atomic_store(&mine->asks, true);
	wake(place_of(0));
	sleep_while_blocked(mine);
}

static void iterate(struct worker *w)
{
	struct place *mine = place_of(w->id);

	if (!w->id) {
		send(w);
		return;
	}
	ask(w->id);
	if (w->done >= thread_share(w->opt, w->opt->warmup, w->id))
		histogram_add(&mine->wakeups, now_ns() - mine->sent_ns);
	think(w);
}

static void sit_out(struct worker *w)
{
	ask(w->id);	/* the sender's share is the largest: it never sits out */
}

static void setup(const struct options *opt)
{
	if (opt->threads < 2)
		error(EXIT_USAGE, 0, "--threads %u: one thread sends, so there must be 2 or more",
		      opt->threads);
	places = padded_alloc(opt->threads, sizeof(struct place), opt->line);
	json = opt->json;
}

static void check(const struct options *opt, struct verdict *verdict)
{
	for (unsigned int id = 1; id < opt->threads; id++) {
		const struct histogram *own = &place_of(id)->wakeups;
		const uint64_t share = thread_share(opt, opt->iterations, id);

		if (histogram_events(own) != share)
			verdict_fail(verdict, "thread %u was woken %" PRIu64 " times, not %" PRIu64,
				     id, histogram_events(own), share);
		for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
			all.count[i] += own->count[i];
	}
}

static const struct bench benchmark = {
	.name = NAME,
	.fixed_locks = 1,
	.setup = setup,
	.iterate = iterate,
	.sit_out = sit_out,
	.check = check,
};

/* In the place of common/list.c, which knows the paper's seven and no other. */
const char *list_description(const char *name)
{
	(void)name;
	return "one thread wakes the rest, which ask and sleep";
}

void list_print(void)
{
	printf("%s %s\n", NAME, list_description(NAME));
}

static double micros(unsigned int thousandths)
{
	return (double)histogram_percentile(&all, thousandths) / 1e3;
}

int main(int argc, char **argv)
{
	const int status = bench_main(&benchmark, argc, argv);

	if (!json && histogram_events(&all))
		printf("  wake-up           50 %% %.1f us, 90 %% %.1f, 99 %% %.1f, 99.9 %% %.1f, "
		       "longest %.1f\n", micros(500), micros(900), micros(990), micros(999),
		       micros(1000));
	return status;
}
