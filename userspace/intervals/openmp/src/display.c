// SPDX-License-Identifier: LGPL-2.1-or-later
#include "display.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "affinity.h"
#include "alloc.h"
#include "env.h"
#include "places.h"

static const char *truth(bool value)
{
	return value ? "TRUE" : "FALSE";
}

static void show_schedule(const struct icv *icv)
{
	static const char *const words[] = { "STATIC", "DYNAMIC", "GUIDED", "AUTO" };
	const unsigned int kind = icv->schedule & ~SCHEDULE_MONOTONIC;
	const bool monotonic = icv->schedule & SCHEDULE_MONOTONIC;
	const char *modifier = "";

	if (kind == SCHEDULE_STATIC ? !monotonic : monotonic)
		modifier = monotonic ? "MONOTONIC:" : "NONMONOTONIC:";
	fprintf(stderr, "  OMP_SCHEDULE = '%s%s", modifier, words[kind - SCHEDULE_STATIC]);
	if (icv->chunk > (kind != SCHEDULE_STATIC))
		fprintf(stderr, ",%ld", icv->chunk);
	fputs("'\n", stderr);
}

static void show_list(const char *name, const char *const *words, const unsigned int *numbers,
		      unsigned int count)
{
	fprintf(stderr, "  %s = '", name);
	for (unsigned int i = 0; i < count; i++)
		fprintf(stderr, "%s%s", i ? "," : "", words[numbers[i]]);
	fputs("'\n", stderr);
}

static void show_threads(const struct environment *environment)
{
	fprintf(stderr, "  OMP_NUM_THREADS = '%u", environment->icv.threads);
	for (unsigned int i = 1; i < environment->levels; i++)
		fprintf(stderr, ",%u", environment->threads[i]);
	fputs("'\n", stderr);
}

/* In runs, as in "{0:2,5}". */
static void show_place(const cpu_set_t *place)
{
	const char *before = "{";

	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		const size_t first = cpu;

		while (cpu < CPU_SETSIZE && CPU_ISSET(cpu, place))
			cpu++;
		if (cpu == first)
			continue;
		fprintf(stderr, cpu - first > 1 ? "%s%zu:%zu" : "%s%zu", before, first,
			cpu - first);
		before = ",";
	}
	fputc('}', stderr);
}

static void show_places(void)
{
	fputs("  OMP_PLACES = '", stderr);
	for (unsigned int i = 0; i < gomp_places.count; i++) {
		fputs(i ? "," : "", stderr);
		show_place(&gomp_places.all[i]);
	}
	fputs("'\n", stderr);
}

GOMP_PUBLIC void omp_display_env(int verbose)
{
	static const char *const offloads[] = { "DEFAULT", "MANDATORY", "DISABLED" };
	static const char *const binds[] = { "FALSE", "TRUE", "PRIMARY", "CLOSE", "SPREAD" };
	const struct environment *environment = &gomp_environment;
	const struct icv *icv = &environment->icv;
	const char *cpus = getenv("GOMP_CPU_AFFINITY");

	fputs("\nOPENMP DISPLAY ENVIRONMENT BEGIN\n  _OPENMP = '201511'\n", stderr);
	fprintf(stderr, "  OMP_DYNAMIC = '%s'\n  OMP_NESTED = '%s'\n", truth(icv->dynamic),
		truth(icv->max_active_levels > 1));
	show_threads(environment);
	show_schedule(icv);
	if (environment->bind_levels)
		show_list("OMP_PROC_BIND", binds, environment->binds, environment->bind_levels);
	else
		fprintf(stderr, "  OMP_PROC_BIND = '%s'\n", binds[icv->bind]);
	show_places();
	fprintf(stderr, "  OMP_STACKSIZE = '%zu'\n  OMP_WAIT_POLICY = '%s'\n",
		environment->stack_asked, environment->active ? "ACTIVE" : "PASSIVE");
	fprintf(stderr, "  OMP_THREAD_LIMIT = '%u'\n  OMP_MAX_ACTIVE_LEVELS = '%u'\n",
		icv->thread_limit, icv->max_active_levels);
	fprintf(stderr, "  OMP_NUM_TEAMS = '%u'\n  OMP_TEAMS_THREAD_LIMIT = '%u'\n",
		environment->teams, environment->teams_limit);
	fprintf(stderr, "  OMP_CANCELLATION = '%s'\n  OMP_DEFAULT_DEVICE = '%d'\n",
		truth(environment->cancellation), icv->device);
	fprintf(stderr, "  OMP_MAX_TASK_PRIORITY = '%u'\n  OMP_DISPLAY_AFFINITY = '%s'\n",
		environment->max_priority, truth(environment->display_affinity));
	fprintf(stderr, "  OMP_AFFINITY_FORMAT = '%s'\n  OMP_ALLOCATOR = '%s'\n",
		gomp_affinity_format(), gomp_allocator_name(icv->allocator));
	fprintf(stderr, "  OMP_TARGET_OFFLOAD = '%s'\n", offloads[environment->offload]);
	if (verbose)
		fprintf(stderr,
			"  GOMP_CPU_AFFINITY = '%s'\n  GOMP_STACKSIZE = '%zu'\n"
			"  GOMP_SPINCOUNT = '%u'\n",
			cpus ? cpus : "", environment->stack_asked, environment->spins);
	fputs("OPENMP DISPLAY ENVIRONMENT END\n", stderr);
}

void gomp_display_init(void)
{
	const char *text = getenv("OMP_DISPLAY_ENV");

	if (text && (!strcasecmp(text, "true") || !strcasecmp(text, "verbose")))
		omp_display_env(!strcasecmp(text, "verbose"));
	else if (text && strcasecmp(text, "false"))
		gomp_complain("OMP_DISPLAY_ENV", text, GOMP_NO_VALUE);
}
