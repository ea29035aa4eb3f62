// SPDX-License-Identifier: LGPL-2.1-or-later
/* Entry points of loops over long. */
#include "loop.h"

typedef long number;

#define ENTRY(name) GOMP_loop_##name
#define RANGE number first, number last, number step
#define LOOP(schedule, chunk) gomp_loop_signed(gomp_member(), first, last, step, schedule, chunk)
#include "loop_entries.def"

/* Parallel loops: the loop is the region's first construct. */

static struct team *begin(unsigned int asked, long first, long last, long step,
			  unsigned int schedule, long chunk, unsigned int flags)
{
	struct member *outside = gomp_member();
	struct loop loop = gomp_loop_signed(outside, first, last, step, schedule, chunk);
	struct team *team = gomp_team_begin(gomp_team_size(outside, asked), flags & 7);

	loop.size = team->size;
	gomp_team_first_loop(team, &loop);
	return team;
}

static void run(struct team *team, void (*function)(void *), void *data)
{
	gomp_team_release(team, function, data);
	function(data);
	gomp_team_end();
}

#define PARALLEL(name, schedule) \
	GOMP_PUBLIC void GOMP_parallel_loop_##name(void (*function)(void *), void *data, \
						   unsigned int asked, long first, long last, \
						   long step, long chunk, unsigned int flags) \
	{ \
		run(begin(asked, first, last, step, schedule, chunk, flags), function, data); \
	}
#define PARALLEL_RUNTIME(name) \
	GOMP_PUBLIC void GOMP_parallel_loop_##name(void (*function)(void *), void *data, \
						   unsigned int asked, long first, long last, \
						   long step, unsigned int flags) \
	{ \
		run(begin(asked, first, last, step, SCHEDULE_RUNTIME, 0, flags), function, data); \
	}
#define PARALLEL_START(name, schedule) \
	GOMP_PUBLIC void GOMP_parallel_loop_##name##_start(void (*function)(void *), void *data, \
							   unsigned int asked, long first, \
							   long last, long step, long chunk) \
	{ \
		gomp_team_release(begin(asked, first, last, step, schedule, chunk, 0), function, \
				  data); \
	}

PARALLEL(static, SCHEDULE_STATIC)
PARALLEL(dynamic, SCHEDULE_DYNAMIC)
PARALLEL(guided, SCHEDULE_GUIDED)
PARALLEL(nonmonotonic_dynamic, SCHEDULE_DYNAMIC)
PARALLEL(nonmonotonic_guided, SCHEDULE_GUIDED)
PARALLEL_RUNTIME(runtime)
PARALLEL_RUNTIME(nonmonotonic_runtime)
PARALLEL_RUNTIME(maybe_nonmonotonic_runtime)
PARALLEL_START(static, SCHEDULE_STATIC)
PARALLEL_START(dynamic, SCHEDULE_DYNAMIC)
PARALLEL_START(guided, SCHEDULE_GUIDED)

GOMP_PUBLIC void GOMP_parallel_loop_runtime_start(void (*function)(void *), void *data,
						  unsigned int asked, long first, long last,
						  long step)
{
	gomp_team_release(begin(asked, first, last, step, SCHEDULE_RUNTIME, 0, 0), function, data);
}

GOMP_PUBLIC void GOMP_loop_end(void)
{
	GOMP_barrier();
}

GOMP_PUBLIC void GOMP_loop_end_nowait(void)
{
}

GOMP_PUBLIC bool GOMP_loop_end_cancel(void)
{
	return GOMP_barrier_cancel();
}
