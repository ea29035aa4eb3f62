// SPDX-License-Identifier: GPL-2.0
/* Groups for CPUs with as many counters as a test wants. */
#include "fake_kernel.h"

#include <errno.h>

#define CORE (COUNTER_BIT(CYCLES) | COUNTER_BIT(INSTRUCTIONS))
#define L2 (COUNTER_BIT(L2_REFERENCES) | COUNTER_BIT(L2_MISSES))
#define L3 (COUNTER_BIT(L3_REFERENCES) | COUNTER_BIT(L3_MISSES))
#define BUS COUNTER_BIT(BUS_REQUESTS)
#define C2C COUNTER_BIT(CACHE_TO_CACHE)

static cpu_set_t cpus;
static const struct counters_target target = { .pid = FAKE_PID, .cpus = &cpus };
static struct counters_error error;

SET_UP
{
	fake_reset();
	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	CPU_SET(1, &cpus);
	return 0;
}

static int split(unsigned int wanted, unsigned int groups[HARDWARE_COUNTERS])
{
	int count = counters_split(&fake_os, &fake_events, wanted, &target, groups, &error);

	assert_int_equal(fake_open_events(), 0);
	return count;
}

/* @expected ends with 0. */
static void assert_split(unsigned int wanted, const unsigned int *expected)
{
	unsigned int groups[HARDWARE_COUNTERS];
	int count = split(wanted, groups);

	for (int i = 0; i < count; i++)
		assert_int_equal(groups[i], expected[i]);
	assert_int_equal(expected[count], 0);
}

SET_UP_TEST(as_few_groups_as_the_counters_allow)
{
	static const struct {
		unsigned int slots, expected[HARDWARE_COUNTERS + 1];
	} cases[] = {
		{ 8, { ALL_HARDWARE } },
		{ 7, { CORE | L2 | L3 | BUS, C2C } },
		{ 6, { CORE | L2 | L3, BUS | C2C } },
		{ 4, { CORE | L2, L3 | BUS | C2C } },
		{ 3, { CORE, L2, L3 | BUS, C2C } },
		{ 2, { CORE, L2, L3, BUS | C2C } },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		fake.slots = cases[i].slots;
		assert_split(ALL_COUNTERS, cases[i].expected);
	}
}

SET_UP_TEST(one_counter_has_one_event_at_a_time)
{
	unsigned int groups[HARDWARE_COUNTERS];

	fake.slots = 1;
	assert_int_equal(split(ALL_HARDWARE, groups), HARDWARE_COUNTERS);
	for (int i = 0; i < HARDWARE_COUNTERS; i++)
		assert_int_equal(groups[i], COUNTER_BIT(i));
}

/* The kernel opens the group as if the NMI watchdog's counter were free. */
SET_UP_TEST(counters_that_others_hold_do_not_count)
{
	fake.slots = 5;
	fake.taken = 1;
	assert_split(ALL_HARDWARE, (const unsigned int[]){ CORE | L2, L3 | BUS | C2C, 0 });
	fake.taken = 0;
	assert_split(ALL_HARDWARE & ~L3, (const unsigned int[]){ CORE | L2 | BUS, C2C, 0 });
}

SET_UP_TEST(what_the_cpu_lacks_is_in_no_group)
{
	fake.open_errno[L3_REFERENCES] = EINVAL;
	fake_events.of[CACHE_TO_CACHE].name = NULL;
	fake_events.of[CACHE_TO_CACHE].why_not = "cores do not tell";
	assert_split(ALL_HARDWARE, (const unsigned int[]){
		     CORE | L2 | COUNTER_BIT(L3_MISSES) | BUS, 0 });
	assert_split(C2C, (const unsigned int[]){ 0 });
}

SET_UP_TEST(software_events_need_no_group)
{
	assert_split(ALL_SOFTWARE, (const unsigned int[]){ 0 });
}

SET_UP_TEST(what_is_in_the_way_is_told)
{
	unsigned int groups[HARDWARE_COUNTERS];

	fake.open_errno[CYCLES] = EACCES;
	fake.paranoid = 2;
	assert_int_equal(split(ALL_HARDWARE, groups), -1);
	assert_non_null(strstr(error.text, "not allowed to count whole CPUs"));

	fake_reset();
	fake.slots = fake.taken = 2;
	assert_int_equal(split(ALL_HARDWARE, groups), -1);
	assert_non_null(strstr(error.text, "cycles was counted for 0.0 % of the time only"));
}

RUN_TESTS(NULL, NULL)
