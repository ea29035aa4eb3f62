// SPDX-License-Identifier: GPL-2.0
/* The table against libpfm, which knows each CPU's events, and against the vendors' codes. */

#include <perfmon/pfmlib.h>
#include <stdio.h>
#include <string.h>

#include "unit.h"
#include "events.h"

static char error[256];

TEST(lists_are_read)
{
	char bad[16];

	assert_int_equal(counters_parse("cycles", bad, sizeof(bad)), COUNTER_BIT(CYCLES));
	assert_int_equal(counters_parse("page_faults,l2_misses", bad, sizeof(bad)),
			 COUNTER_BIT(PAGE_FAULTS) | COUNTER_BIT(L2_MISSES));
	assert_int_equal(counters_parse("software,cycles", bad, sizeof(bad)),
			 ALL_SOFTWARE | COUNTER_BIT(CYCLES));
	assert_int_equal(counters_parse("hardware", bad, sizeof(bad)), 0xff);
	assert_int_equal(counters_parse("all", bad, sizeof(bad)), 0xfff);
}

TEST(words_that_are_no_names_are_told)
{
	static const struct {
		const char *list, *bad;
	} cases[] = {
		{ "cycle", "cycle" }, { "cyclesx", "cyclesx" }, { "", "" }, { "cycles,", "" },
		{ "cycles,,migrations", "" }, { "l2_misses,ipc", "ipc" },
		{ "cycles ,all", "cycles " },
	};
	char bad[16];

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		assert_int_equal(counters_parse(cases[i].list, bad, sizeof(bad)), 0);
		assert_string_equal(bad, cases[i].bad);
	}
}

/* libpfm knows the CPUs of the architecture, and of the years, that it was built for. */
static bool libpfm_knows(const char *pmu)
{
	bool knows = !strcmp(pmu, "generic");

	assert_int_equal(pfm_initialize(), PFM_SUCCESS);
	for (int i = PFM_PMU_NONE; i < PFM_PMU_MAX && !knows; i++) {
		pfm_pmu_info_t info = { .size = sizeof(info) };

		knows = pfm_get_pmu_info(i, &info) == PFM_SUCCESS && !strcmp(info.name, pmu);
	}
	pfm_terminate();
	return knows;
}

/* A CPU of the table that is not this one. */
static const char *another_cpu(void)
{
	struct events events;
	const char *pmu;
	unsigned int n = 0;

	assert_int_equal(events_resolve(&events, NULL, false, error, sizeof(error)), 0);
	while ((pmu = events_pmu(n++)) && (!libpfm_knows(pmu) || !strcmp(pmu, events.cpu)))
		;
	events_free(&events);
	assert_non_null(pmu);
	return pmu;
}

/* Before the set-ups: libpfm never forgets what they tell it. */
TEST(what_libpfm_cannot_encode_is_not_available)
{
	struct events events;

	assert_int_equal(events_resolve(&events, another_cpu(), false, error, sizeof(error)), 0);
	assert_null(events.of[L2_REFERENCES].name);
	assert_non_null(strstr(events.of[L2_REFERENCES].why_not, "libpfm cannot encode "));
	assert_non_null(events.of[TASK_CLOCK].name);
	events_free(&events);
}

/* Also for those that this machine has not. */
SET_UP
{
	return setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
}

SET_UP_TEST(each_cell_is_an_event_or_a_reason)
{
	unsigned int known = 0;

	for (unsigned int n = 0; events_pmu(n); n++) {
		const char *pmu = events_pmu(n);
		struct events events;

		if (!libpfm_knows(pmu)) {
			print_message("# this libpfm does not know %s\n", pmu);
			continue;
		}
		known++;
		if (events_resolve(&events, pmu, false, error, sizeof(error)))
			fail_msg("%s", error);
		assert_string_equal(events.cpu, pmu);
		for (int i = 0; i < COUNTERS; i++) {
			if (!events.of[i].name && !events.of[i].why_not)
				fail_msg("%s: nothing says why %s is not there", pmu,
					 counter_names[i].name);
			assert_false(events.of[i].name && events.of[i].why_not);
			/* The table has no event that its CPU lacks. */
			if (events.of[i].refused)
				fail_msg("%s", events.of[i].refused);
		}
		assert_non_null(events.of[CYCLES].name);
		assert_non_null(events.of[TASK_CLOCK].name);
		events_free(&events);
	}
	/* The generic row, and some of this architecture's. */
	assert_true(known > 1);
}

/* Codes as in Linux's tools/perf/pmu-events; Documentation/counters.rst has the same. */
SET_UP_TEST(codes_are_the_vendors)
{
	static const struct {
		const char *pmu;
		enum counter counter;
		uint32_t type;
		uint64_t config;
	} codes[] = {
		{ "generic", CYCLES, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
		{ "generic", INSTRUCTIONS, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
		{ "generic", L3_REFERENCES, PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_LL },
		{ "generic", L3_MISSES, PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_LL | 1 << 16 },
		{ "generic", CONTEXT_SWITCHES, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
		{ "generic", MIGRATIONS, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
		{ "generic", TASK_CLOCK, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
		{ "generic", PAGE_FAULTS, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
		{ "hsw", L2_REFERENCES, PERF_TYPE_RAW, 0xe724 },
		{ "hsw", L2_MISSES, PERF_TYPE_RAW, 0x2724 },
		{ "hsw", BUS_REQUESTS, PERF_TYPE_RAW, 0x07f1 },
		{ "bdw_ep", CACHE_TO_CACHE, PERF_TYPE_RAW, 0x04d2 },
		{ "skx", L2_REFERENCES, PERF_TYPE_RAW, 0xe724 },
		{ "skx", L3_REFERENCES, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
		{ "skx", L3_MISSES, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
		{ "skx", BUS_REQUESTS, PERF_TYPE_RAW, 0x80b0 },
		{ "icx", CACHE_TO_CACHE, PERF_TYPE_RAW, 0x04d2 },
		{ "spr", BUS_REQUESTS, PERF_TYPE_RAW, 0x8021 },
		{ "spr", CACHE_TO_CACHE, PERF_TYPE_RAW, 0x04d2 },
		{ "amd64_fam17h_zen2", L2_REFERENCES, PERF_TYPE_RAW, 0xff64 },
		{ "amd64_fam17h_zen2", L2_MISSES, PERF_TYPE_RAW, 0x0964 },
		{ "amd64_fam19h_zen3", L2_REFERENCES, PERF_TYPE_RAW, 0xff64 },
		{ "amd64_fam19h_zen3", L3_REFERENCES, PERF_TYPE_RAW, 0x5e44 },
		{ "amd64_fam19h_zen3", L3_MISSES, PERF_TYPE_RAW, 0x5c44 },
		{ "amd64_fam19h_zen3", CACHE_TO_CACHE, PERF_TYPE_RAW, 0x1444 },
		{ "amd64_fam19h_zen4", L3_REFERENCES, PERF_TYPE_RAW, 0xde44 },
		{ "amd64_fam19h_zen4", BUS_REQUESTS, PERF_TYPE_RAW, 0xdc44 },
		{ "amd64_fam1ah_zen5", CACHE_TO_CACHE, PERF_TYPE_RAW, 0x1444 },
		{ "arm_n1", L2_REFERENCES, PERF_TYPE_RAW, 0x16 },
		{ "arm_n1", L2_MISSES, PERF_TYPE_RAW, 0x17 },
		{ "arm_n2", BUS_REQUESTS, PERF_TYPE_RAW, 0x19 },
		{ "arm_v1", L3_REFERENCES, PERF_TYPE_RAW, 0x36 },
		{ "arm_v2", L3_MISSES, PERF_TYPE_RAW, 0x37 },
	};

	for (size_t i = 0; i < COUNT_OF(codes); i++) {
		struct events events;
		const struct perf_event_attr *attr;

		if (!libpfm_knows(codes[i].pmu))
			continue;
		assert_int_equal(events_resolve(&events, codes[i].pmu, false, error, sizeof(error)),
				 0);
		attr = &events.of[codes[i].counter].attr;
		if (attr->type != codes[i].type || attr->config != codes[i].config)
			fail_msg("%s on %s is type %u, config %#llx",
				 counter_names[codes[i].counter].name,
				 codes[i].pmu, attr->type, (unsigned long long)attr->config);
		events_free(&events);
	}
}

SET_UP_TEST(both_modes_or_user_space)
{
	struct events events;

	for (int user_only = 0; user_only <= 1; user_only++) {
		assert_int_equal(events_resolve(&events, NULL, user_only, error, sizeof(error)), 0);
		assert_int_equal(events.of[CYCLES].attr.exclude_kernel, user_only);
		assert_int_equal(events.of[CYCLES].attr.exclude_user, 0);
		assert_int_equal(events.of[PAGE_FAULTS].attr.exclude_kernel, user_only);
		assert_int_equal(!events.of[TASK_CLOCK].name, user_only);
		assert_int_equal(!events.of[CONTEXT_SWITCHES].name, user_only);
		assert_int_equal(!events.of[MIGRATIONS].name, user_only);
		events_free(&events);
	}
}

RUN_TESTS(NULL, NULL)
