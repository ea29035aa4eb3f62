// SPDX-License-Identifier: LGPL-2.1-or-later
/* Entry points of loops over unsigned long long. */
#include "loop.h"

typedef unsigned long long ull;

#define START(name, schedule, ordered) \
	GOMP_PUBLIC bool GOMP_loop_ull_##name##_start(bool up, ull first, ull last, ull step, \
						      ull chunk, ull *begin, ull *end) \
	{ \
		const struct loop loop = gomp_loop_unsigned(gomp_member(), up, first, last, step, \
							    schedule, chunk); \
		return gomp_loop_start(&loop, ordered, begin, end, NULL, NULL); \
	}
#define START_RUNTIME(name, ordered) \
	GOMP_PUBLIC bool GOMP_loop_ull_##name##_start(bool up, ull first, ull last, ull step, \
						      ull *begin, ull *end) \
	{ \
		const struct loop loop = gomp_loop_unsigned(gomp_member(), up, first, last, step, \
							    SCHEDULE_RUNTIME, 0); \
		return gomp_loop_start(&loop, ordered, begin, end, NULL, NULL); \
	}
#define NEXT(name, take) \
	GOMP_PUBLIC bool GOMP_loop_ull_##name##_next(ull *begin, ull *end) \
	{ \
		return take(gomp_member(), (uint64_t *)begin, (uint64_t *)end); \
	}

#include "loop_kinds.def"

GOMP_PUBLIC bool GOMP_loop_ull_start(bool up, ull first, ull last, ull step, long schedule,
				     ull chunk, ull *begin, ull *end, uintptr_t *reductions,
				     void **memory)
{
	const struct loop loop =
		gomp_loop_unsigned(gomp_member(), up, first, last, step,
				   (unsigned int)schedule & ~SCHEDULE_MONOTONIC, chunk);

	return gomp_loop_start(&loop, false, begin, end, reductions, memory);
}

GOMP_PUBLIC bool GOMP_loop_ull_ordered_start(bool up, ull first, ull last, ull step, long schedule,
					     ull chunk, ull *begin, ull *end,
					     uintptr_t *reductions, void **memory)
{
	const struct loop loop =
		gomp_loop_unsigned(gomp_member(), up, first, last, step,
				   (unsigned int)schedule & ~SCHEDULE_MONOTONIC, chunk);

	return gomp_loop_start(&loop, true, begin, end, reductions, memory);
}

static bool doacross(unsigned int dimensions, ull *counts, unsigned int schedule, ull chunk,
		     ull *begin, ull *end)
{
	const struct loop loop = gomp_loop_doacross(gomp_member(), dimensions, counts, schedule,
						    chunk);

	return gomp_loop_start(&loop, false, begin, end, NULL, NULL);
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

	return gomp_loop_start(&loop, false, begin, end, reductions, memory);
}
