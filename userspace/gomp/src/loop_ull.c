// SPDX-License-Identifier: LGPL-2.1-or-later
/* The entry points of loops over unsigned long long. */
#include "loop.h"
#include "reduction.h"

typedef unsigned long long ull;

static bool take(struct member *self, bool ordered, ull *begin, ull *end)
{
	return ordered ? gomp_loop_take_ordered(self, (uint64_t *)begin, (uint64_t *)end) :
			 gomp_loop_take(self, (uint64_t *)begin, (uint64_t *)end);
}

static bool start(const struct loop *loop, bool ordered, ull *begin, ull *end)
{
	struct member *self = gomp_member();

	gomp_loop_begin(self, loop);
	return take(self, ordered, begin, end);
}

#define START(name, schedule, ordered) \
	GOMP_PUBLIC bool GOMP_loop_ull_##name##_start(bool up, ull first, ull last, ull step, \
						      ull chunk, ull *begin, ull *end) \
	{ \
		const struct loop loop = gomp_loop_unsigned(gomp_member(), up, first, last, step, \
							    schedule, chunk); \
		return start(&loop, ordered, begin, end); \
	}
#define START_RUNTIME(name, ordered) \
	GOMP_PUBLIC bool GOMP_loop_ull_##name##_start(bool up, ull first, ull last, ull step, \
						      ull *begin, ull *end) \
	{ \
		const struct loop loop = gomp_loop_unsigned(gomp_member(), up, first, last, step, \
							    SCHEDULE_RUNTIME, 0); \
		return start(&loop, ordered, begin, end); \
	}
#define NEXT(name, ordered) \
	GOMP_PUBLIC bool GOMP_loop_ull_##name##_next(ull *begin, ull *end) \
	{ \
		return take(gomp_member(), ordered, begin, end); \
	}

START(static, SCHEDULE_STATIC, false)
START(dynamic, SCHEDULE_DYNAMIC, false)
START(guided, SCHEDULE_GUIDED, false)
START(nonmonotonic_dynamic, SCHEDULE_DYNAMIC, false)
START(nonmonotonic_guided, SCHEDULE_GUIDED, false)
START_RUNTIME(runtime, false)
START_RUNTIME(nonmonotonic_runtime, false)
START_RUNTIME(maybe_nonmonotonic_runtime, false)
START(ordered_static, SCHEDULE_STATIC, true)
START(ordered_dynamic, SCHEDULE_DYNAMIC, true)
START(ordered_guided, SCHEDULE_GUIDED, true)
START_RUNTIME(ordered_runtime, true)

NEXT(static, false)
NEXT(dynamic, false)
NEXT(guided, false)
NEXT(runtime, false)
NEXT(nonmonotonic_dynamic, false)
NEXT(nonmonotonic_guided, false)
NEXT(nonmonotonic_runtime, false)
NEXT(maybe_nonmonotonic_runtime, false)
NEXT(ordered_static, true)
NEXT(ordered_dynamic, true)
NEXT(ordered_guided, true)
NEXT(ordered_runtime, true)

static bool start_with(const struct loop *loop, bool ordered, ull *begin, ull *end,
		       uintptr_t *reductions, void **memory)
{
	struct member *self = gomp_member();

	gomp_loop_begin(self, loop);
	if (reductions)
		gomp_reductions_of_share(self, reductions);
	if (memory)
		gomp_share_memory(self->share, memory);
	return !begin || take(self, ordered, begin, end);
}

GOMP_PUBLIC bool GOMP_loop_ull_start(bool up, ull first, ull last, ull step, long schedule,
				     ull chunk, ull *begin, ull *end, uintptr_t *reductions,
				     void **memory)
{
	const struct loop loop =
		gomp_loop_unsigned(gomp_member(), up, first, last, step,
				   (unsigned int)schedule & ~SCHEDULE_MONOTONIC, chunk);

	return start_with(&loop, false, begin, end, reductions, memory);
}

GOMP_PUBLIC bool GOMP_loop_ull_ordered_start(bool up, ull first, ull last, ull step, long schedule,
					     ull chunk, ull *begin, ull *end,
					     uintptr_t *reductions, void **memory)
{
	const struct loop loop =
		gomp_loop_unsigned(gomp_member(), up, first, last, step,
				   (unsigned int)schedule & ~SCHEDULE_MONOTONIC, chunk);

	return start_with(&loop, true, begin, end, reductions, memory);
}

static bool doacross(unsigned int dimensions, ull *counts, unsigned int schedule, ull chunk,
		     ull *begin, ull *end)
{
	const struct loop loop = gomp_loop_doacross(gomp_member(), dimensions, counts, schedule,
						    chunk);

	return start(&loop, false, begin, end);
}

#define DOACROSS(name, schedule) \
	GOMP_PUBLIC bool GOMP_loop_ull_doacross_##name##_start(unsigned int dimensions, \
							       ull *counts, ull chunk, \
							       ull *begin, ull *end) \
	{ \
		return doacross(dimensions, counts, schedule, chunk, begin, end); \
	}

DOACROSS(static, SCHEDULE_STATIC)
DOACROSS(dynamic, SCHEDULE_DYNAMIC)
DOACROSS(guided, SCHEDULE_GUIDED)

GOMP_PUBLIC bool GOMP_loop_ull_doacross_runtime_start(unsigned int dimensions, ull *counts,
						      ull *begin, ull *end)
{
	return doacross(dimensions, counts, SCHEDULE_RUNTIME, 0, begin, end);
}

GOMP_PUBLIC bool GOMP_loop_ull_doacross_start(unsigned int dimensions, ull *counts, long schedule,
					      ull chunk, ull *begin, ull *end,
					      uintptr_t *reductions, void **memory)
{
	const struct loop loop =
		gomp_loop_doacross(gomp_member(), dimensions, counts,
				   (unsigned int)schedule & ~SCHEDULE_MONOTONIC, chunk);

	return start_with(&loop, false, begin, end, reductions, memory);
}
