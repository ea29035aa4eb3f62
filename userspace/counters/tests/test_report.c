// SPDX-License-Identifier: GPL-2.0
/* What is printed of counts that were made up. */
#include "fake_kernel.h"

#include <stdio.h>
#include <stdlib.h>

#include "report.h"

static struct counters_result results[COUNTERS];
static struct session session;
static struct report report;

static int setup(void **state)
{
	(void)state;
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
#define HEAD "\nfast-stat: user and kernel on fake, the whole program\n"

static void the_table(void **state)
{
	(void)state;
	assert_prints(report_text, HEAD "of the program's threads\n\n" TABLE);
	report.cpus = "0-1";
	assert_prints(report_text, HEAD "on CPUs 0-1, which the program has to itself\n\n" TABLE);
	report.others = "no cgroup";
	assert_prints(report_text, HEAD "on CPUs 0-1; others may run on these CPUs: no cgroup\n\n"
		      TABLE);
}

static void the_object(void **state)
{
	(void)state;
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
		      "\"why_not\":\"cores do not tell\"}}}\n");
}

static void a_set(FILE *out, const struct report *unused)
{
	(void)unused;
	report_set(out, COUNTER_BIT(CYCLES) | COUNTER_BIT(PAGE_FAULTS));
	fputc(';', out);
	report_set(out, 0);
}

static void sets_are_lists(void **state)
{
	(void)state;
	assert_prints(a_set, "cycles,page_faults;");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_table, setup),
		cmocka_unit_test_setup(the_object, setup),
		cmocka_unit_test_setup(sets_are_lists, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
