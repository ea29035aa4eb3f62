// SPDX-License-Identifier: GPL-2.0
#include "doubts.h"

/* More than any CPU retires. */
#define MAX_PER_CYCLE 16

#define SHARED ": the counters were not this program's all the time; name fewer --events"

static bool exceeds(const struct counters_result *one, const struct counters_result *other,
		    uint64_t times)
{
	return one->available && other->available && one->value / times > other->value;
}

static bool absent(const struct counters_result *one, const struct counters_result *beside)
{
	return one->available && beside->available && !one->value && beside->value;
}

int doubts_find(const struct counters_result r[COUNTERS], const char *doubts[DOUBTS])
{
	int count = 0;

	if (absent(&r[CYCLES], &r[INSTRUCTIONS]))
		doubts[count++] = "instructions in no cycle at all" SHARED;
	else if (exceeds(&r[INSTRUCTIONS], &r[CYCLES], MAX_PER_CYCLE))
		doubts[count++] = "more instructions than any CPU has in so many cycles" SHARED;
	if (absent(&r[INSTRUCTIONS], &r[CYCLES]))
		doubts[count++] = "cycles without any instruction" SHARED;
	if (exceeds(&r[L2_MISSES], &r[L2_REFERENCES], 1))
		doubts[count++] = "more l2_misses than l2_references" SHARED;
	if (exceeds(&r[L3_MISSES], &r[L3_REFERENCES], 1))
		doubts[count++] = "more l3_misses than l3_references" SHARED;
	return count;
}
