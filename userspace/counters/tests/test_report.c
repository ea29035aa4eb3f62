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
	results[L2_REFERENCES] = (struct counters_result){
		.available = true, .value = 4000, .raw = 1000, .enabled_ns = 400, .running_ns = 100,
	};
	results[L2_MISSES] = (struct counters_result){
		.available = true, .value = 1000, .raw = 500, .enabled_ns = 400, .running_ns = 200,
	};
	results[L3_MISSES] = (struct counters_result){ .raw = 7, .why_not = "cores do not tell" };
	results[TASK_CLOCK] = (struct counters_result){
		.available = true, .value = 400, .raw = 400, .enabled_ns = 400, .running_ns = 400,
	};
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

static void the_table(void **state)
{
	(void)state;
	assert_prints(report_text,
		      "\nfast-stat: user and kernel on fake, the whole program\n\n"
		      "                4000  l2_references (counted 25.0 % of the time)\n"
		      "                1000  l2_misses (counted 50.0 % of the time)\n"
		      "       not available  l3_misses: cores do not tell\n"
		      "                 400  task_clock (ns)\n"
		      "              0.2500  L2 misses per reference\n"
		      "            1.500000  seconds elapsed\n\n");
}

static void the_object(void **state)
{
	(void)state;
	report.wanted = COUNTER_BIT(L2_MISSES) | COUNTER_BIT(L3_MISSES);
	fake_events.user_only = true;
	fake_events.of[L3_MISSES].name = NULL;
	session.roi = true;
	session.regions = 2;
	session.wait_status = 3 << 8;
	assert_prints(report_json,
		      "{\"schema\":1,\"cpu\":\"fake\",\"modes\":[\"user\"],\"exit_status\":3,"
		      "\"signal\":null,\"regions\":2,\"elapsed_ns\":1500000000,\"counters\":{"
		      "\"l2_misses\":{\"unit\":\"misses\",\"event\":\"fake::l2_misses\","
		      "\"value\":1000,"
		      "\"raw\":500,\"enabled_ns\":400,\"running_ns\":200,\"share\":0.500000,"
		      "\"why_not\":null},"
		      "\"l3_misses\":{\"unit\":\"misses\",\"event\":null,\"value\":null,"
		      "\"raw\":null,"
		      "\"enabled_ns\":null,\"running_ns\":null,\"share\":null,"
		      "\"why_not\":\"cores do not tell\"}}}\n");
}

static void the_warning(void **state)
{
	(void)state;
	assert_prints(report_scaled,
		      "fast-stat: warning: events took turns, since the CPU has too few counters "
		      "for all at once. These were scaled up from the share of the time that they "
		      "were counted: l2_references 25.0 %, l2_misses 50.0 %. Name fewer (--events) "
		      "to have them counted all the time\n");
	results[L2_REFERENCES].running_ns = 400;
	results[L2_MISSES].running_ns = 400;
	assert_prints(report_scaled, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_table, setup),
		cmocka_unit_test_setup(the_object, setup),
		cmocka_unit_test_setup(the_warning, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
