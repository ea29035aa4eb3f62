// SPDX-License-Identifier: LGPL-2.1-or-later
/* Entry points of loops over long. */
#include "loop.h"

#define START(name, schedule, ordered) \
	GOMP_PUBLIC bool GOMP_loop_##name##_start(long first, long last, long step, long chunk, \
						  long *begin, long *end) \
	{ \
		const struct loop loop = gomp_loop_signed(gomp_member(), first, last, step, \
							  schedule, chunk); \
		return gomp_loop_start(&loop, ordered, begin, end, NULL, NULL); \
	}
#define START_RUNTIME(name, ordered) \
	GOMP_PUBLIC bool GOMP_loop_##name##_start(long first, long last, long step, \
						  long *begin, long *end) \
	{ \
		const struct loop loop = gomp_loop_signed(gomp_member(), first, last, step, \
							  SCHEDULE_RUNTIME, 0); \
		return gomp_loop_start(&loop, ordered, begin, end, NULL, NULL); \
	}
#define NEXT(name, take) \
	GOMP_PUBLIC bool GOMP_loop_##name##_next(long *begin, long *end) \
	{ \
		return take(gomp_member(), (uint64_t *)begin, (uint64_t *)end); \
	}

#include "loop_kinds.def"

GOMP_PUBLIC bool GOMP_loop_start(long first, long last, long step, long schedule, long chunk,
				 long *begin, long *end, uintptr_t *reductions, void **memory)
{
	const struct loop loop = gomp_loop_signed(gomp_member(), first, last, step,
						  (unsigned int)schedule & ~SCHEDULE_MONOTONIC,
						  chunk);

	return gomp_loop_start(&loop, false, begin, end, reductions, memory);
}

GOMP_PUBLIC bool GOMP_loop_ordered_start(long first, long last, long step, long schedule,
					 long chunk, long *begin, long *end,
					 uintptr_t *reductions, void **memory)
{
	const struct loop loop = gomp_loop_signed(gomp_member(), first, last, step,
						  (unsigned int)schedule & ~SCHEDULE_MONOTONIC,
						  chunk);

	return gomp_loop_start(&loop, true, begin, end, reductions, memory);
}

static bool doacross(unsigned int dimensions, long *counts, unsigned int schedule, long chunk,
		     long *begin, long *end)
{
	const struct loop loop = gomp_loop_doacross(gomp_member(), dimensions, counts, schedule,
						    (uint64_t)chunk);

	return gomp_loop_start(&loop, false, begin, end, NULL, NULL);
}

#define DOACROSS(name, schedule) \
	GOMP_PUBLIC bool GOMP_loop_doacross_##name##_start(unsigned int dimensions, long *counts, \
							   long chunk, long *begin, long *end) \
	{ \
		return doacross(dimensions, counts, schedule, chunk, begin, end); \
	}

DOACROSS(static, SCHEDULE_STATIC)
DOACROSS(dynamic, SCHEDULE_DYNAMIC)
DOACROSS(guided, SCHEDULE_GUIDED)

GOMP_PUBLIC bool GOMP_loop_doacross_runtime_start(unsigned int dimensions, long *counts,
						  long *begin, long *end)
{
	return doacross(dimensions, counts, SCHEDULE_RUNTIME, 0, begin, end);
}

GOMP_PUBLIC bool GOMP_loop_doacross_start(unsigned int dimensions, long *counts, long schedule,
					  long chunk, long *begin, long *end,
					  uintptr_t *reductions, void **memory)
{
	const struct loop loop =
		gomp_loop_doacross(gomp_member(), dimensions, counts,
				   (unsigned int)schedule & ~SCHEDULE_MONOTONIC, (uint64_t)chunk);

	return gomp_loop_start(&loop, false, begin, end, reductions, memory);
}

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
