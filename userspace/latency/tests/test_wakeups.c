// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "unit.h"
#include "wakeups.h"

enum { IDLE, A = 100, B = 101, STRANGER = 200 };

static struct wakeups w;

SET_UP
{
	memset(&w, 0, sizeof(w));
	if (wakeups_open(&w))
		return -1;
	wakeups_follow(&w, A);
	wakeups_follow(&w, B);
	return 0;
}

TEAR_DOWN
{
	wakeups_close(&w);
	return 0;
}

static void assert_latencies(uint64_t first, uint64_t second, uint64_t events)
{
	assert_int_equal(histogram_events(&w.histogram), events);
	if (events > 0)
		assert_int_not_equal(w.histogram.count[histogram_bucket(first)], 0);
	if (events > 1)
		assert_int_not_equal(w.histogram.count[histogram_bucket(second)], 0);
}

FIXTURE_TEST(from_waking_to_running)
{
	wakeups_waking(&w, A, 1000);
	wakeups_waking(&w, B, 1010);
	wakeups_switch(&w, IDLE, true, B, 1020);
	wakeups_switch(&w, B, false, A, 1050);
	assert_latencies(10, 50, 2);
}

/* The thread was preempted, or yielded: no wake-up. */
FIXTURE_TEST(running_again_is_no_wakeup)
{
	wakeups_switch(&w, A, true, B, 1000);
	wakeups_switch(&w, B, true, A, 2000);
	assert_latencies(0, 0, 0);
}

FIXTURE_TEST(a_wakeup_counts_once)
{
	wakeups_waking(&w, A, 1000);
	wakeups_switch(&w, IDLE, true, A, 1020);
	wakeups_switch(&w, A, true, B, 1500);
	wakeups_switch(&w, B, true, A, 2000);
	assert_latencies(20, 0, 1);
}

/* Woken on its way to sleep: the kernel lets it go on, and no switch belongs to that. */
FIXTURE_TEST(woken_before_it_slept)
{
	wakeups_waking(&w, A, 1000);
	wakeups_switch(&w, A, true, B, 3000);
	wakeups_switch(&w, B, false, A, 9000);
	assert_latencies(0, 0, 0);
	wakeups_waking(&w, A, 10000);
	wakeups_switch(&w, A, false, IDLE, 20000);
	wakeups_waking(&w, A, 30000);
	wakeups_switch(&w, IDLE, true, A, 30007);
	assert_latencies(7, 0, 1);
}

/* Woken while it is still being switched out. */
FIXTURE_TEST(woken_while_it_fell_asleep)
{
	wakeups_waking(&w, A, 1000);
	wakeups_switch(&w, A, false, B, 1005);
	wakeups_switch(&w, B, true, A, 1030);
	assert_latencies(30, 0, 1);
}

FIXTURE_TEST(strangers_do_not_count)
{
	wakeups_waking(&w, STRANGER, 1000);
	wakeups_switch(&w, A, true, STRANGER, 1020);
	wakeups_waking(&w, IDLE, 1030);
	wakeups_switch(&w, STRANGER, false, IDLE, 1040);
	assert_latencies(0, 0, 0);
}

FIXTURE_TEST(no_latency_goes_across_a_gap)
{
	wakeups_waking(&w, A, 1000);
	wakeups_gap(&w);
	wakeups_switch(&w, IDLE, true, A, 900000);
	assert_latencies(0, 0, 0);
	wakeups_waking(&w, A, 1000000);
	wakeups_switch(&w, IDLE, true, A, 1000003);
	assert_latencies(3, 0, 1);
}

/* It slept, and now it sleeps again: it was running meanwhile. */
FIXTURE_TEST(missing_events_are_noticed)
{
	wakeups_switch(&w, A, false, IDLE, 1000);
	wakeups_waking(&w, A, 2000);
	wakeups_switch(&w, A, false, IDLE, 3000);
	assert_int_equal(w.missing, 1);
	assert_latencies(0, 0, 0);
	wakeups_gap(&w);
	wakeups_switch(&w, A, false, IDLE, 4000);
	wakeups_waking(&w, A, 5000);
	wakeups_switch(&w, IDLE, true, A, 5004);
	wakeups_switch(&w, A, true, B, 6000);
	wakeups_switch(&w, B, false, A, 7000);
	wakeups_switch(&w, A, false, IDLE, 8000);
	assert_int_equal(w.missing, 1);
	assert_latencies(4, 0, 1);
}

RUN_TESTS(NULL, NULL)
