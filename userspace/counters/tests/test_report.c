// SPDX-License-Identifier: GPL-2.0
/* What is printed of counts that were made up. */
#include "fake_kernel.h"

#include <stdio.h>
#include <stdlib.h>

#include "doubts.h"
#include "report.h"

static struct counters_result results[COUNTERS];
static struct session session;
static struct report report;

SET_UP
{
	fake_reset();
	memset(results, 0, sizeof(results));
	results[L2_REFERENCES] = (struct counters_result){ .available = true, .value = 4000 };
	results[L2_MISSES] = (struct counters_result){ .available = true, .value = 1000 };
	results[L3_MISSES] = (struct counters_result){ .why_not = "cores do not tell" };
	results[TASK_CLOCK] = (struct counters_result){ .available = true, .value = 400 };
	report = (struct report){
		.events = &fake_events,
		.wanted = COUNTER_BIT(L2_REFERENCES) | COUNTER_BIT(L2_MISSES) |
			  COUNTER_BIT(L3_MISSES) | COUNTER_BIT(TASK_CLOCK),
		.results = results,
		.session = &session,
	};
	session = (struct session){ .elapsed_ns = 1500000000 };
	return 0;
}

static char *printed(void (*print)(FILE *out, const struct report *report))
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	print(out, &report);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void assert_prints(void (*print)(FILE *out, const struct report *report),
			  const char *expected)
{
	char *text = printed(print);

	assert_string_equal(text, expected);
	free(text);
}

#define TABLE \
	"                4000  l2_references\n" \
	"                1000  l2_misses\n" \
	"       not available  l3_misses: cores do not tell\n" \
	"                 400  task_clock (ns)\n" \
	"              0.2500  L2 misses per reference\n" \
	"            1.500000  seconds elapsed\n\n"
#define DOUBTFUL "impossible: more l2_misses than l2_references: the counters were not this " \
	"program's all the time; name fewer --events\n\n"
#define HEAD "\nfast-stat: user and kernel on fake, the whole program\n"

SET_UP_TEST(the_table)
{
	assert_prints(report_text, HEAD "of the program's threads\n\n" TABLE);
	report.cpus = "0-1";
	assert_prints(report_text, HEAD "on CPUs 0-1, which the program has to itself\n\n" TABLE);
	report.others = "no cgroup";
	assert_prints(report_text, HEAD
		      "on CPUs 0-1; other programs may run on these CPUs: no cgroup\n\n" TABLE);
}

SET_UP_TEST(means_of_runs)
{
	struct spread spreads[COUNTERS] = { 0 }, elapsed = { 0 };

	report.wanted = COUNTER_BIT(L2_REFERENCES) | COUNTER_BIT(L3_MISSES);
	report.spreads = spreads;
	report.elapsed = &elapsed;
	spread_add(&spreads[L2_REFERENCES], 3000);
	spread_add(&spreads[L2_REFERENCES], 5000);
	spread_add(&elapsed, 1e9);
	spread_add(&elapsed, 1e9);
	assert_prints(report_text, HEAD "means of 2 runs, ± their standard deviation\n"
		      "of the program's threads\n\n"
		      "                4000  l2_references  ± 35.36 %\n"
		      "       not available  l3_misses: cores do not tell\n"
		      "              0.2500  L2 misses per reference\n"
		      "            1.000000  seconds elapsed  ± 0.00 %\n\n");
}

SET_UP_TEST(instructions_per_cycle)
{
	report.wanted = COUNTER_BIT(CYCLES) | COUNTER_BIT(INSTRUCTIONS);
	results[CYCLES] = (struct counters_result){ .available = true, .value = 1000 };
	results[INSTRUCTIONS] = (struct counters_result){ .available = true, .value = 1500 };
	assert_prints(report_text, HEAD "of the program's threads\n\n"
		      "                1000  cycles\n"
		      "                1500  instructions\n"
		      "              1.5000  instructions per cycle\n"
		      "              0.2500  L2 misses per reference\n"
		      "            1.500000  seconds elapsed\n\n");
}

SET_UP_TEST(what_cannot_be_is_said)
{
	char *text;

	results[L2_MISSES].value = 4001;
	text = printed(report_text);
	assert_non_null(strstr(text, "  seconds elapsed\n\n" DOUBTFUL));
	free(text);
	text = printed(report_json);
	assert_non_null(strstr(text, "\"doubts\":[\"more l2_misses than l2_references: "));
	free(text);
}

static void assert_doubts_of(uint64_t elapsed_ns, uint64_t cycles, uint64_t instructions,
			     const char *expected)
{
	const char *doubts[DOUBTS];

	results[CYCLES] = (struct counters_result){ .available = true, .value = cycles };
	results[INSTRUCTIONS] = (struct counters_result){ .available = true,
							  .value = instructions };
	assert_int_equal(doubts_find(results, elapsed_ns, doubts), expected ? 1 : 0);
	if (expected)
		assert_memory_equal(doubts[0], expected, strlen(expected));
}

static void assert_doubts(uint64_t cycles, uint64_t instructions, const char *expected)
{
	assert_doubts_of(1000, cycles, instructions, expected);
}

SET_UP_TEST(doubts_of_cycles)
{
	const char *doubts[DOUBTS];

	/* Of no region nothing is counted. */
	assert_doubts_of(0, 0, 0, NULL);
	assert_doubts(0, 0, "time without a cycle or an instruction: this machine shows");
	results[INSTRUCTIONS].available = false;
	assert_int_equal(doubts_find(results, 1000, doubts), 1);
	results[CYCLES].available = false;
	assert_int_equal(doubts_find(results, 1000, doubts), 0);
	assert_doubts(100, 1600, NULL);
	assert_doubts(100, 1700, "more instructions than any CPU");
	assert_doubts(0, 5, "instructions in no cycle");
	assert_doubts(5, 0, "cycles without any instruction");
}

SET_UP_TEST(the_object)
{
	report.wanted = COUNTER_BIT(L2_MISSES) | COUNTER_BIT(L3_MISSES);
	report.cpus = "0-1";
	report.others = "no cgroup";
	fake_events.user_only = true;
	fake_events.of[L3_MISSES].name = NULL;
	session.roi = true;
	session.regions = 2;
	session.wait_status = 3 << 8;
	assert_prints(report_json,
		      "{\"schema\":2,\"cpu\":\"fake\",\"modes\":[\"user\"],\"cpus\":\"0-1\","
		      "\"others\":\"no cgroup\",\"exit_status\":3,"
		      "\"signal\":null,\"regions\":2,\"elapsed_ns\":1500000000,\"counters\":{"
		      "\"l2_misses\":{\"unit\":\"misses\",\"event\":\"fake::l2_misses\","
		      "\"value\":1000,\"why_not\":null},"
		      "\"l3_misses\":{\"unit\":\"misses\",\"event\":null,\"value\":null,"
		      "\"why_not\":\"cores do not tell\"}},\"doubts\":[]}\n");
}

static void a_set(FILE *out, const struct report *unused)
{
	(void)unused;
	report_set(out, COUNTER_BIT(CYCLES) | COUNTER_BIT(PAGE_FAULTS));
	fputc(';', out);
	report_set(out, 0);
}

SET_UP_TEST(sets_are_lists)
{
	assert_prints(a_set, "cycles,page_faults;");
}

RUN_TESTS(NULL, NULL)
