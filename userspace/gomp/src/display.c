// SPDX-License-Identifier: LGPL-2.1-or-later
#include "display.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "env.h"
#include "park.h"

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

static void show_list(const char *name, const char *const *words, const unsigned char *numbers,
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

GOMP_PUBLIC void omp_display_env(int verbose)
{
	static const char *const binds[] = { "FALSE", "TRUE", "PRIMARY", "CLOSE", "SPREAD" };
	const struct environment *environment = &gomp_environment;
	const struct icv *icv = &environment->icv;

	fputs("\nOPENMP DISPLAY ENVIRONMENT BEGIN\n  _OPENMP = '201511'\n", stderr);
	fprintf(stderr, "  OMP_DYNAMIC = '%s'\n  OMP_NESTED = '%s'\n", truth(icv->dynamic),
		truth(icv->max_active_levels > 1));
	show_threads(environment);
	show_schedule(icv);
	if (environment->bind_levels)
		show_list("OMP_PROC_BIND", binds, environment->binds, environment->bind_levels);
	else
		fprintf(stderr, "  OMP_PROC_BIND = '%s'\n", binds[icv->bind]);
	fprintf(stderr, "  OMP_STACKSIZE = '%zu'\n  OMP_THREAD_LIMIT = '%u'\n",
		environment->stack_bytes, icv->thread_limit);
	fprintf(stderr, "  OMP_MAX_ACTIVE_LEVELS = '%u'\n  OMP_CANCELLATION = '%s'\n",
		icv->max_active_levels, truth(environment->cancellation));
	fprintf(stderr, "  OMP_DEFAULT_DEVICE = '%d'\n  OMP_MAX_TASK_PRIORITY = '%u'\n",
		icv->device, environment->max_priority);
	fprintf(stderr, "  OMP_DISPLAY_AFFINITY = '%s'\n", truth(environment->display_affinity));
	fprintf(stderr, "  OMP_NUM_TEAMS = '%u'\n  OMP_TEAMS_THREAD_LIMIT = '%u'\n",
		environment->teams, environment->teams_limit);
	if (verbose)
		fprintf(stderr, "  GOMP_SPINCOUNT = '%u'\n", environment->spins);
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
