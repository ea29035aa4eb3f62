// SPDX-License-Identifier: LGPL-2.1-or-later
/* omp_*() for threads, levels and control variables. */
#include <limits.h>
#include <omp.h>
#include <string.h>
#include <time.h>

#include "env.h"
#include "newer_omp.h"
#include "places.h"
#include "workshare.h"

GOMP_QUERY(omp_get_thread_num, gomp_member()->number)
GOMP_QUERY(omp_get_num_threads, gomp_size(gomp_member()))
GOMP_QUERY(omp_get_max_threads, gomp_member()->task->icv->threads)

GOMP_PUBLIC int omp_get_num_procs(void)
{
	gomp_member();
	/* A bound thread may use all CPUs for its regions. */
	return (int)(gomp_places.count ? gomp_environment.cpus : gomp_count_cpus());
}

GOMP_PUBLIC int omp_in_parallel(void)
{
	const struct team *team = gomp_member()->team;

	return team && team->active_level;
}

GOMP_QUERY(omp_in_final, gomp_member()->task->final)

GOMP_PUBLIC int omp_in_explicit_task(void)
{
	const struct member *self = gomp_member();

	return self->task != &self->base;
}

GOMP_PUBLIC int omp_get_level(void)
{
	const struct team *team = gomp_member()->team;

	return team ? (int)team->level : 0;
}

GOMP_PUBLIC int omp_get_active_level(void)
{
	const struct team *team = gomp_member()->team;

	return team ? (int)team->active_level : 0;
}

/* The caller's ancestor at this level, or itself; NULL: none. */
static const struct member *ancestor(int level)
{
	const struct member *member = gomp_member();
	int there = omp_get_level();

	if (level < 0 || level > there)
		return NULL;
	for (; there > level; there--)
		member = member->outer;
	return member;
}

GOMP_PUBLIC int omp_get_ancestor_thread_num(int level)
{
	const struct member *member = ancestor(level);

	return member ? (int)member->number : -1;
}

GOMP_PUBLIC int omp_get_team_size(int level)
{
	const struct member *member = ancestor(level);

	return member ? (int)gomp_size(member) : -1;
}

GOMP_PUBLIC void omp_set_num_threads(int threads)
{
	gomp_icv_own(gomp_member()->task)->threads = threads > 0 ? (unsigned int)threads : 1;
}

GOMP_PUBLIC void omp_set_dynamic(int dynamic)
{
	gomp_icv_own(gomp_member()->task)->dynamic = dynamic != 0;
}

GOMP_QUERY(omp_get_dynamic, gomp_member()->task->icv->dynamic)

GOMP_PUBLIC void omp_set_max_active_levels(int levels)
{
	if (levels >= 0)
		gomp_icv_own(gomp_member()->task)->max_active_levels = (unsigned int)levels;
}

GOMP_QUERY(omp_get_max_active_levels, gomp_member()->task->icv->max_active_levels)
GOMP_QUERY(omp_get_supported_active_levels, INT_MAX)

GOMP_PUBLIC void omp_set_nested(int nested)
{
	struct icv *icv = gomp_icv_own(gomp_member()->task);

	if (!nested)
		icv->max_active_levels = 1;
	else if (icv->max_active_levels <= 1)
		icv->max_active_levels = INT_MAX;
}

GOMP_PUBLIC int omp_get_nested(void)
{
	const struct member *self = gomp_member();
	const unsigned int most = self->task->icv->max_active_levels;

	return most > 1 && most > (unsigned int)omp_get_active_level();
}

GOMP_PUBLIC int omp_get_thread_limit(void)
{
	const unsigned int limit = gomp_member()->task->icv->thread_limit;

	return limit > INT_MAX ? INT_MAX : (int)limit;
}

GOMP_PUBLIC void omp_set_schedule(omp_sched_t kind, int chunk)
{
	const unsigned int schedule = (unsigned int)kind & ~SCHEDULE_MONOTONIC;
	struct icv *icv;

	if (schedule < SCHEDULE_STATIC || schedule > SCHEDULE_AUTO)
		return;
	icv = gomp_icv_own(gomp_member()->task);
	icv->schedule = (unsigned int)kind;
	icv->chunk = chunk < 1 || schedule == SCHEDULE_AUTO ? schedule != SCHEDULE_STATIC : chunk;
}

GOMP_PUBLIC void omp_get_schedule(omp_sched_t *kind, int *chunk)
{
	const struct icv *icv = gomp_member()->task->icv;

	*kind = (omp_sched_t)icv->schedule;
	*chunk = (int)icv->chunk;
}

GOMP_QUERY(omp_get_cancellation, gomp_environment.cancellation)
GOMP_QUERY(omp_get_max_task_priority, gomp_environment.max_priority)

GOMP_PUBLIC double omp_get_wtime(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

GOMP_PUBLIC double omp_get_wtick(void)
{
	struct timespec tick;

	clock_getres(CLOCK_MONOTONIC, &tick);
	return (double)tick.tv_sec + (double)tick.tv_nsec * 1e-9;
}

/* All threads of the caller's regions end; the next region has new ones. */
GOMP_PUBLIC int omp_pause_resource_all(omp_pause_resource_t kind)
{
	struct member *self = gomp_member();

	if ((kind != omp_pause_soft && kind != omp_pause_hard) || self->team)
		return -1;
	gomp_pool_end(self);
	return 0;
}

GOMP_PUBLIC int omp_pause_resource(omp_pause_resource_t kind, int device)
{
	if (device != omp_get_initial_device() && device != -1)
		return -1;
	return omp_pause_resource_all(kind);
}

/* Identifies this library, for tests and for users. */
GOMP_PUBLIC const char *intervals_gomp(void)
{
	return "libintervals-gomp";
}
