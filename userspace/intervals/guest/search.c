// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How long should a worker without work search before it sleeps? Parallel regions with a serial gap
 * between them, as a loop of a program has them; for each time of searching and each gap the
 * median time of a region, and the mean CPU time of all threads. Prints one line of JSON.
 *
 *	intervals_search WORKERS REGIONS SEARCH,... GAP,...
 *
 * Times are in microseconds. In a region each worker has a task of WORK_NS. Workers are pinned.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <intervals.h>

#include "in_guest.h"

#define WORK_NS 10000
#define MAX_WORKERS 1024
#define MAX_REGIONS 10000
#define MAX_US 1000000
#define NS_PER_US 1000u
#define NS_PER_S 1000000000u

static uint64_t now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

static void compute(uint64_t ns)
{
	const uint64_t end = now(CLOCK_MONOTONIC) + ns;

	while (now(CLOCK_MONOTONIC) < end)
		;
}

static void task(void *unused)
{
	compute(WORK_NS);
}

struct regions {
	unsigned int workers, count;
	uint64_t gap_ns;
	uint64_t ns[MAX_REGIONS];	/* results: of each region */
	uint64_t cpu_ns;		/* of all threads, gaps included, for one region and its gap */
};

static void region(unsigned int workers)
{
	struct ivl_scope scope = IVL_SCOPE_INIT;
	struct ivl_task tasks[MAX_WORKERS];

	for (unsigned int i = 1; i < workers; i++)
		if (ivl_spawn(&scope, &tasks[i], task, NULL))
			error(1, 0, "a task of a region does not begin: %s", ivl_last_error());
	task(NULL);
	ivl_sync(&scope);
}

/* The first region wakes workers that sleep, whatever the gap. */
static int all_regions(ivl_interval *self, void *arg)
{
	struct regions *regions = (struct regions *)arg;
	uint64_t cpu = 0;

	for (unsigned int i = 0; i <= regions->count; i++) {
		uint64_t begin;

		if (i == 1)
			cpu = now(CLOCK_PROCESS_CPUTIME_ID);
		compute(regions->gap_ns);
		begin = now(CLOCK_MONOTONIC);
		region(regions->workers);
		if (i)
			regions->ns[i - 1] = now(CLOCK_MONOTONIC) - begin;
	}
	regions->cpu_ns = (now(CLOCK_PROCESS_CPUTIME_ID) - cpu) / regions->count;
	return 0;
}

static int compare(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

/* Returns the median of the regions' times in ns. */
static uint64_t measure(const struct ivl_config *config, struct regions *regions)
{
	ivl_runtime *runtime;

	if (ivl_start(config, &runtime))
		error(1, 0, "the runtime does not start: %s", ivl_last_error());
	regions->workers = ivl_worker_count(runtime);
	if (ivl_run(runtime, all_regions, regions))
		error(1, 0, "the regions fail: %s", ivl_last_error());
	ivl_stop(runtime);
	qsort(regions->ns, regions->count, sizeof(*regions->ns), compare);
	return regions->ns[regions->count / 2];
}

/* The next number of a list, or false at its end. */
static bool next(const char *name, char **list, unsigned int *result)
{
	char *text = strsep(list, ",");

	if (!text)
		return false;
	/* A search of 0 is one look. */
	*result = strcmp(text, "0") ? number(name, text, MAX_US) : 0;
	return true;
}

int main(int argc, char **argv)
{
	static struct regions regions;
	struct ivl_config config;
	const char *comma = "";
	unsigned int search;
	char *searches;

	if (argc != 5)
		error(EXIT_USAGE, 0, "usage: %s WORKERS REGIONS SEARCH,... GAP,...", argv[0]);
	if (ivl_config_init(&config))
		error(EXIT_USAGE, 0, "%s", ivl_last_error());
	config.workers = number("WORKERS", argv[1], MAX_WORKERS);
	regions.count = number("REGIONS", argv[2], MAX_REGIONS);
	printf("{\"benchmark\":\"search\",\"workers\":%u,\"rows\":[", config.workers);
	/* Else a thread that is woken may be queued behind another one, for a time slice. */
	config.pin = true;
	searches = argv[3];
	while (next("SEARCH", &searches, &search)) {
		char *gaps = strdup(argv[4]), *left = gaps;
		unsigned int gap;

		while (next("GAP", &left, &gap)) {
			regions.gap_ns = (uint64_t)gap * NS_PER_US;
			config.search_us = search;
			printf("%s{\"search_us\":%u,\"gap_us\":%u,\"region_ns\":%" PRIu64, comma,
			       search, gap, measure(&config, &regions));
			printf(",\"cpu_ns\":%" PRIu64 "}", regions.cpu_ns);
			comma = ",";
		}
		free(gaps);
	}
	printf("],\"check\":\"ok\"}\n");
	return 0;
}
