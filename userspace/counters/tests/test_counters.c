// SPDX-License-Identifier: GPL-2.0
/* Counters on a kernel that can be made to do what a real one does rarely. */
#include "fake_kernel.h"

#include <errno.h>
#include <stdio.h>

static struct counters counters;
static struct counters_error error;
static struct counters_result results[COUNTERS];

/* CPUs 0 and 2 of three, for counting by CPU. */
static cpu_set_t cpus;
static const struct counters_target by_thread = { .pid = FAKE_PID };
static const struct counters_target by_cpu = { .pid = FAKE_PID, .cpus = &cpus };

SET_UP
{
	fake_reset();
	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	CPU_SET(2, &cpus);
	memset(&error, 0, sizeof(error));
	return 0;
}

static int open_set(unsigned int wanted)
{
	return counters_open(&counters, &fake_os, &fake_events, wanted, &by_thread, &error);
}

static int open_by_cpu(unsigned int wanted)
{
	return counters_open(&counters, &fake_os, &fake_events, wanted, &by_cpu, &error);
}

static void assert_says(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" does not say \"%s\"", text, part);
}

/* The open fails as a whole: it says why, and leaves nothing open. */
static void assert_refused(unsigned int wanted, const char *part)
{
	assert_int_equal(open_set(wanted), -1);
	assert_says(error.text, part);
	assert_int_equal(fake_open_events(), 0);
	assert_int_equal(fake.probes_open, 0);
}

static void assert_event(const struct fake_event *event, pid_t pid, int cpu)
{
	assert_true(event->open);
	assert_int_equal(event->pid, pid);
	assert_int_equal(event->cpu, cpu);
	/* The kernel inherits what belongs to threads. */
	assert_int_equal(event->attr.inherit, cpu < 0);
	assert_int_equal(event->attr.disabled, event->group < 0);
	assert_int_equal(event->attr.enable_on_exec, 0);
	assert_int_equal(event->attr.read_format,
			 PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING);
}

SET_UP_TEST(each_event_counts_all_threads)
{
	assert_int_equal(open_set(ALL_COUNTERS), 0);
	for (int i = 0; i < COUNTERS; i++) {
		assert_event(&fake.event[0][i], FAKE_PID, -1);
		for (int place = 1; place < FAKE_PLACES; place++)
			assert_false(fake.event[place][i].open);
	}
	counters_close(&counters);
	assert_int_equal(fake_open_events(), 0);
}

SET_UP_TEST(hardware_events_count_cpus_and_software_events_threads)
{
	assert_int_equal(open_by_cpu(ALL_COUNTERS), 0);
	for (int i = 0; i < HARDWARE_COUNTERS; i++) {
		assert_false(fake.event[0][i].open);
		assert_event(&fake.event[1][i], -1, 0);
		assert_false(fake.event[2][i].open);
		assert_event(&fake.event[3][i], -1, 2);
	}
	for (int i = HARDWARE_COUNTERS; i < COUNTERS; i++) {
		assert_event(&fake.event[0][i], FAKE_PID, -1);
		for (int place = 1; place < FAKE_PLACES; place++)
			assert_false(fake.event[place][i].open);
	}
	counters_close(&counters);
	assert_int_equal(fake_open_events(), 0);
}

SET_UP_TEST(cpus_add_up)
{
	assert_int_equal(open_by_cpu(COUNTER_BIT(CYCLES) | COUNTER_BIT(TASK_CLOCK)), 0);
	fake.data[1][CYCLES][0] = 1000;
	fake.data[3][CYCLES][0] = 30;
	fake.data[0][TASK_CLOCK][0] = 7;
	assert_int_equal(counters_read(&counters, results, &error), 0);
	assert_int_equal(results[CYCLES].value, 1030);
	assert_int_equal(results[TASK_CLOCK].value, 7);
	counters_close(&counters);
}

SET_UP_TEST(the_hardware_events_of_a_place_are_one_group)
{
	const unsigned int cache = COUNTER_BIT(L2_MISSES) | COUNTER_BIT(L3_MISSES);

	assert_int_equal(open_by_cpu(ALL_COUNTERS), 0);
	for (int i = 0; i < COUNTERS; i++) {
		bool follows = i > CYCLES && i < HARDWARE_COUNTERS;

		for (size_t place = 0; place < counters.count; place++) {
			int cpu = counters.places[place].cpu;
			int leader = counters.places[place].fd[CYCLES];

			if (fake.event[cpu + 1][i].open)
				assert_int_equal(fake.event[cpu + 1][i].group,
						 follows ? leader : -1);
		}
	}
	counters_close(&counters);

	/* Without the first, the next leads. */
	assert_int_equal(open_set(cache), 0);
	assert_int_equal(fake.event[0][L2_MISSES].group, -1);
	assert_int_equal(fake.event[0][L3_MISSES].group, counters.places[0].fd[L2_MISSES]);
	counters_close(&counters);
}

SET_UP_TEST(nothing_may_be_counted)
{
	assert_int_equal(open_by_cpu(0), 0);
	assert_int_equal(fake_open_events(), 0);
	assert_int_equal(counters_enable(&counters, &error), 0);
	assert_int_equal(counters_read(&counters, results, &error), 0);
	counters_close(&counters);
}

static void assert_none_counts(void)
{
	for (int place = 0; place < FAKE_PLACES; place++)
		for (int i = 0; i < COUNTERS; i++)
			assert_false(fake_counts(place, i));
}

SET_UP_TEST(all_are_switched)
{
	assert_int_equal(open_by_cpu(ALL_HARDWARE), 0);
	assert_none_counts();
	assert_int_equal(counters_enable(&counters, &error), 0);
	for (int i = 0; i < HARDWARE_COUNTERS; i++) {
		assert_true(fake_counts(1, i));
		assert_true(fake_counts(3, i));
	}
	assert_int_equal(counters_disable(&counters, &error), 0);
	assert_none_counts();
	counters_close(&counters);

	assert_int_equal(open_set(ALL_SOFTWARE), 0);
	assert_none_counts();
	assert_int_equal(counters_enable(&counters, &error), 0);
	for (int i = HARDWARE_COUNTERS; i < COUNTERS; i++)
		assert_true(fake_counts(0, i));
	counters_close(&counters);
}

/* All at once, with one interrupt of the CPU: they count in one and the same window. */
SET_UP_TEST(a_group_is_switched_as_one)
{
	assert_int_equal(open_by_cpu(ALL_HARDWARE), 0);
	assert_int_equal(counters_enable(&counters, &error), 0);
	assert_int_equal(fake.switches, 2);
	assert_int_equal(counters_disable(&counters, &error), 0);
	assert_int_equal(fake.switches, 4);
	counters_close(&counters);
}

SET_UP_TEST(a_switch_that_fails_is_told)
{
	assert_int_equal(open_set(ALL_COUNTERS), 0);
	fake.ioctl_errno[CYCLES] = ESRCH;
	assert_int_equal(counters_enable(&counters, &error), -1);
	assert_says(error.text, "cannot switch cycles on: No such process");
	assert_int_equal(counters_disable(&counters, &error), -1);
	assert_says(error.text, "cannot switch cycles off: No such process");
	counters_close(&counters);
}

static int read_cycles(uint64_t value, uint64_t enabled, uint64_t running)
{
	int status;

	assert_int_equal(open_set(COUNTER_BIT(CYCLES)), 0);
	fake.data[0][CYCLES][0] = value;
	fake.data[0][CYCLES][1] = enabled;
	fake.data[0][CYCLES][2] = running;
	status = counters_read(&counters, results, &error);
	counters_close(&counters);
	return status;
}

SET_UP_TEST(all_the_time_is_a_result)
{
	assert_int_equal(read_cycles(UINT64_MAX - 2, UINT64_MAX, UINT64_MAX), 0);
	assert_true(results[CYCLES].available);
	assert_true(results[CYCLES].value == UINT64_MAX - 2);
}

SET_UP_TEST(a_share_of_the_time_is_none)
{
	assert_int_equal(read_cycles(1000, 400, 100), -1);
	assert_says(error.text, "cycles was counted for 25.0 % of the time only");
	assert_int_equal(error.kind, COUNTERS_TOO_MANY);
	assert_int_equal(read_cycles(0, 1000, 0), -1);
	assert_says(error.text, "cycles was counted for 0.0 % of the time only");
}

SET_UP_TEST(one_cpu_that_counted_less_spoils_the_sum)
{
	assert_int_equal(open_by_cpu(COUNTER_BIT(CYCLES)), 0);
	fake.data[1][CYCLES][1] = fake.data[1][CYCLES][2] = 1000;
	fake.data[3][CYCLES][1] = 1000;
	fake.data[3][CYCLES][2] = 999;
	assert_int_equal(counters_read(&counters, results, &error), -1);
	assert_says(error.text, "99.9 %");
	counters_close(&counters);
}

SET_UP_TEST(a_region_in_which_nothing_ran_is_zero)
{
	assert_int_equal(read_cycles(0, 0, 0), 0);
	assert_true(results[CYCLES].available);
	assert_int_equal(results[CYCLES].value, 0);
}

SET_UP_TEST(short_reads_are_no_counts)
{
	assert_int_equal(open_set(ALL_HARDWARE), 0);
	fake.read_size[L2_MISSES] = 8;
	assert_int_equal(counters_read(&counters, results, &error), -1);
	assert_says(error.text, "cannot read l2_misses: the kernel gave 8 bytes, not 24");
	fake.read_errno[L2_MISSES] = EIO;
	assert_int_equal(counters_read(&counters, results, &error), -1);
	assert_says(error.text, "cannot read l2_misses: Input/output error");
	counters_close(&counters);
}

/* perf_event's end of file: the event is in error, as when its group no longer fits. */
SET_UP_TEST(an_event_given_up_is_not_zero)
{
	assert_int_equal(open_set(COUNTER_BIT(L3_MISSES) | COUNTER_BIT(CYCLES)), 0);
	fake.read_size[L3_MISSES] = 0;
	assert_int_equal(counters_read(&counters, results, &error), 0);
	assert_false(results[L3_MISSES].available);
	assert_says(results[L3_MISSES].why_not, "gave the event up");
	assert_true(results[CYCLES].available);
	counters_close(&counters);
}

SET_UP_TEST(a_vanished_thread_is_told)
{
	fake.open_errno[L2_MISSES] = ESRCH;
	assert_refused(ALL_COUNTERS, "process 4711 is gone");
}

SET_UP_TEST(a_missing_permission_is_told)
{
	fake.open_errno[CYCLES] = EACCES;
	fake.paranoid = 2;
	assert_refused(ALL_COUNTERS,
		       "not allowed to count the kernel: kernel.perf_event_paranoid is 2");
	assert_says(error.text, "--user");

	/* Debian's own level: not even user space. */
	fake.open_errno[CYCLES] = EPERM;
	fake.paranoid = 3;
	assert_refused(ALL_COUNTERS, "not allowed to count: kernel.perf_event_paranoid is 3");
	assert_null(strstr(error.text, "--user"));

	fake_events.user_only = true;
	fake.paranoid = 2;
	assert_refused(ALL_COUNTERS, "not allowed to count: kernel.perf_event_paranoid is 2");

	fake.paranoid = -1;
	assert_refused(ALL_COUNTERS, "seccomp");
	assert_says(error.text, "kernel.perf_event_paranoid is -1");
}

SET_UP_TEST(a_missing_pmu_is_told)
{
	static const int numbers[] = { ENOENT, EOPNOTSUPP, ENODEV, ENXIO };

	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		for (int counter = 0; counter < HARDWARE_COUNTERS; counter++)
			fake.open_errno[counter] = numbers[i];
		fake.probe_errno = numbers[i];
		assert_refused(ALL_COUNTERS, "no PMU");
		assert_refused(COUNTER_BIT(L3_MISSES), "no PMU");
		assert_says(error.text, "--events software");
	}

	/* What needs no PMU is counted without one. */
	assert_int_equal(open_set(ALL_SOFTWARE), 0);
	counters_close(&counters);
}

SET_UP_TEST(an_event_that_the_cpu_lacks_is_not_available)
{
	fake.open_errno[BUS_REQUESTS] = ENOENT;
	fake.open_errno[L2_REFERENCES] = EINVAL;
	assert_int_equal(open_set(ALL_COUNTERS), 0);
	assert_int_equal(fake_open_events(), ALL_COUNTERS & ~COUNTER_BIT(BUS_REQUESTS) &
			 ~COUNTER_BIT(L2_REFERENCES));
	assert_int_equal(fake.probes_open, 0);
	assert_int_equal(counters_read(&counters, results, &error), 0);
	assert_false(results[BUS_REQUESTS].available);
	assert_says(results[BUS_REQUESTS].why_not,
		    "the kernel refuses fake::bus_requests: No such file or directory");
	assert_true(results[CYCLES].available);
	counters_close(&counters);
}

/* The kernel is there to be asked, though the user may not ask it for cycles. */
SET_UP_TEST(a_pmu_that_is_forbidden_is_not_missing)
{
	fake.open_errno[BUS_REQUESTS] = ENOENT;
	fake.probe_errno = EACCES;
	assert_int_equal(open_set(ALL_COUNTERS), 0);
	counters_close(&counters);
}

SET_UP_TEST(an_event_that_the_table_lacks_is_not_available)
{
	fake_events.of[CACHE_TO_CACHE].name = NULL;
	fake_events.of[CACHE_TO_CACHE].why_not = "cores do not tell";
	assert_int_equal(open_set(ALL_COUNTERS), 0);
	assert_false(fake.event[0][CACHE_TO_CACHE].open);
	assert_int_equal(counters_read(&counters, results, &error), 0);
	assert_false(results[CACHE_TO_CACHE].available);
	assert_string_equal(results[CACHE_TO_CACHE].why_not, "cores do not tell");
	counters_close(&counters);

	/* But if that was all, nothing would be counted. */
	assert_refused(COUNTER_BIT(CACHE_TO_CACHE),
		       "none of these can be counted on this CPU (fake):\n"
		       "  cache_to_cache: cores do not tell");
}

SET_UP_TEST(too_many_events_are_told)
{
	static const struct {
		int number;
		const char *says;
	} cases[] = {
		{ EMFILE, "too many events: no file descriptor is left for l3_misses "
			  "(Too many open files)" },
		{ ENFILE, "too many events: no file descriptor is left for l3_misses "
			  "(Too many open files in" },
		{ ENOSPC, "too many events: the CPU has no counter left for l3_misses" },
		{ EBUSY, "too many events: the CPU has no counter left for l3_misses" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		fake.open_errno[L3_MISSES] = cases[i].number;
		assert_refused(ALL_COUNTERS, cases[i].says);
	}
}

SET_UP_TEST(a_group_larger_than_the_cpus_counters_is_told)
{
	fake.slots = 4;
	assert_int_equal(open_by_cpu(ALL_HARDWARE), -1);
	assert_says(error.text, "the CPU has no counter left for l3_references");
	assert_says(error.text, "--groups");
	assert_int_equal(error.kind, COUNTERS_TOO_MANY);
	assert_int_equal(fake_open_events(), 0);
}

SET_UP_TEST(whole_cpus_are_not_for_everybody)
{
	fake.open_errno[CYCLES] = EACCES;
	fake.paranoid = 1;
	assert_int_equal(open_by_cpu(ALL_COUNTERS), -1);
	assert_says(error.text,
		    "not allowed to count whole CPUs: kernel.perf_event_paranoid is 1");
	assert_says(error.text, "--threads");
	assert_int_equal(fake_open_events(), 0);
}

SET_UP_TEST(other_errors_are_told)
{
	fake.open_errno[CYCLES] = ENOSYS;
	assert_refused(ALL_COUNTERS, "no perf_event_open");
	fake.open_errno[CYCLES] = E2BIG;
	assert_refused(ALL_COUNTERS, "cannot count cycles (fake::cycles): Argument list too long");
}

SET_UP_TEST(cores_of_two_kinds_are_told)
{
	fake.hybrid = true;
	assert_refused(ALL_COUNTERS, "cores of two kinds");
	assert_int_equal(open_set(ALL_SOFTWARE), 0);
	counters_close(&counters);
}

RUN_TESTS(NULL, NULL)
