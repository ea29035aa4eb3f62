// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Counts steals: runs one kernel of the benchmarks once for each seed of the victims' choice, with
 * pinned workers in places of NUMA nodes. Prints one line of JSON.
 *
 *	intervals_stealing KERNEL SIZE VICTIMS WORKERS SEEDS
 *
 * Counting begins while all workers are asleep and ends in the kernel's last task: their search for
 * work before and after is not counted. The last task reads the counts without stopping the other
 * workers, so each may have one attempt counted in part.
 */
#include <error.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "in_guest.h"
#include "runtimes/intervals_par.h"

#define MAX_WORKERS 1024
#define MAX_SEEDS 1000

/* The NUMA thesis' MATMUL (3.3.2): one task for each element of the product. */
struct element {
	uint32_t row, column;
};

static void element_task(void *arg)
{
	const struct element *element = (const struct element *)arg;
	const struct bench_matmul *m = &bench_matmul;
	double sum = 0;

	for (size_t k = 0; k < m->n; k++)
		sum += m->a[element->row * m->n + k] * m->b[k * m->n + element->column];
	m->c[element->row * m->n + element->column] = sum;
}

static void all_elements(void *unused)
{
	const uint32_t n = (uint32_t)bench_matmul.n;

	for (uint32_t row = 0; row < n; row++) {
		for (uint32_t column = 0; column < n; column++) {
			struct element element = { row, column };

			par_async(element_task, &element, sizeof(element));
		}
	}
}

static void elements_run(void)
{
	par_finish(all_elements, NULL);
}

struct work {
	const char *name;
	const char *kernel;	/* of the benchmarks: its input and its check */
	void (*run)(void);
};

static const struct work works[] = {
	{ "matmul", "matmul", elements_run },
	{ "nqueens", "nqueens", nqueens_run },
	{ "sort", "sort", sort_run },
};

struct counted {
	ivl_runtime *runtime;
	const struct work *work;
	struct ivl_statistics before, after;
};

static int count(ivl_interval *self, void *arg)
{
	struct counted *counted = (struct counted *)arg;

	counted->work->run();
	ivl_statistics_read(counted->runtime, &counted->after);
	return 0;
}

static const struct work *find_work(const char *name)
{
	for (size_t i = 0; i < sizeof(works) / sizeof(*works); i++)
		if (!strcmp(works[i].name, name))
			return &works[i];
	error(EXIT_USAGE, 0, "KERNEL %s: must be matmul, nqueens or sort", name);
	return NULL;
}

static const struct bench_kernel *find_kernel(const char *name)
{
	size_t i = 0;

	while (strcmp(bench_kernels[i]->name, name))
		i++;
	return bench_kernels[i];
}

static enum ivl_victims find_victims(const char *name)
{
	for (int i = 0; i < IVL_VICTIM_POLICIES; i++)
		if (!strcmp(ivl_victims_name((enum ivl_victims)i), name))
			return (enum ivl_victims)i;
	error(EXIT_USAGE, 0, "VICTIMS %s: must be random, threshold, domains or "
	      "domains-threshold", name);
	return IVL_VICTIM_POLICIES;
}

static void print_run(unsigned int seed, const struct ivl_statistics *before,
		      const struct ivl_statistics *after)
{
	printf("%s{\"seed\":%u,\"steals\":%" PRIu64 ",\"steal_failures\":%" PRIu64
	       ",\"steals_remote\":%" PRIu64 ",\"steal_failures_remote\":%" PRIu64
	       ",\"puts\":%" PRIu64 "}", seed == 1 ? "" : ",", seed,
	       after->steals - before->steals, after->steal_failures - before->steal_failures,
	       after->steals_remote - before->steals_remote,
	       after->steal_failures_remote - before->steal_failures_remote,
	       after->puts - before->puts);
}

/* Print the counts. Returns the number of places. */
static unsigned int run_seed(const struct ivl_config *config, const struct work *work,
			     unsigned int size)
{
	const struct bench_kernel *kernel = find_kernel(work->kernel);
	struct counted counted = { .work = work };
	unsigned int places;
	int failure = kernel->prepare(size);

	if (failure)
		error(EXIT_USAGE, failure, "SIZE %u: not one for %s", size, work->name);
	failure = ivl_start(config, &counted.runtime);
	if (failure)
		error(1, 0, "the runtime does not start: %s", ivl_last_error());
	nanosleep(&(struct timespec){ .tv_nsec = ASLEEP_NS }, NULL);
	ivl_statistics_read(counted.runtime, &counted.before);
	failure = ivl_run(counted.runtime, count, &counted);
	places = ivl_place_count(counted.runtime);
	ivl_stop(counted.runtime);
	if (failure || !kernel->check())
		error(1, failure, "%s of %u: the result is wrong", work->name, size);
	print_run((unsigned int)config->seed, &counted.before, &counted.after);
	return places;
}

int main(int argc, char **argv)
{
	struct ivl_config config;
	const struct work *work;
	unsigned int size, seeds, places = 0;

	if (argc != 6)
		error(EXIT_USAGE, 0, "usage: %s KERNEL SIZE VICTIMS WORKERS SEEDS", argv[0]);
	if (ivl_config_init(&config))
		error(EXIT_USAGE, 0, "%s", ivl_last_error());
	work = find_work(argv[1]);
	size = number("SIZE", argv[2], UINT32_MAX);
	config.victims = find_victims(argv[3]);
	config.workers = number("WORKERS", argv[4], MAX_WORKERS);
	seeds = number("SEEDS", argv[5], MAX_SEEDS);
	config.places = IVL_PLACES_NUMA;
	config.pin = true;
	config.statistics = true;
	/* "Huge number of tasks must be generated quickly" (4.2). */
	config.policy = IVL_HELP_FIRST;

	printf("{\"benchmark\":\"%s\",\"size\":%u,\"victims\":\"%s\",\"workers\":%u,\"runs\":[",
	       work->name, size, argv[3], config.workers);
	for (unsigned int seed = 1; seed <= seeds; seed++) {
		config.seed = seed;
		places = run_seed(&config, work, size);
	}
	printf("],\"places\":%u,\"check\":\"ok\"}\n", places);
	return 0;
}
