// SPDX-License-Identifier: GPL-2.0
#include "doubts.h"

/* More than any CPU retires. */
#define MAX_PER_CYCLE 16

#define SHARED ": the counters were not this program's all the time; name fewer --events"
#define STILL ": this machine shows counters that do not count; use --events software"

static bool exceeds(const struct counters_result *one, const struct counters_result *other,
		    uint64_t times)
{
	return one->available && other->available && one->value / times > other->value;
}

static bool absent(const struct counters_result *one, const struct counters_result *beside)
{
	return one->available && beside->available && !one->value && beside->value;
}

static bool stands_still(const struct counters_result *one)
{
	return one->available && !one->value;
}

int doubts_find(const struct counters_result r[COUNTERS], uint64_t elapsed_ns,
		const char *doubts[DOUBTS])
{
	int count = 0;

	if (absent(&r[CYCLES], &r[INSTRUCTIONS]))
		doubts[count++] = "instructions in no cycle at all" SHARED;
	else if (absent(&r[INSTRUCTIONS], &r[CYCLES]))
		doubts[count++] = "cycles without any instruction" SHARED;
	else if (exceeds(&r[INSTRUCTIONS], &r[CYCLES], MAX_PER_CYCLE))
		doubts[count++] = "more instructions than any CPU retires in these cycles" SHARED;
	else if (elapsed_ns && (stands_still(&r[CYCLES]) || stands_still(&r[INSTRUCTIONS])))
		doubts[count++] = "time without a cycle or an instruction" STILL;
	if (exceeds(&r[L2_MISSES], &r[L2_REFERENCES], 1))
		doubts[count++] = "more l2_misses than l2_references" SHARED;
	if (exceeds(&r[L3_MISSES], &r[L3_REFERENCES], 1))
		doubts[count++] = "more l3_misses than l3_references" SHARED;
	return count;
}
