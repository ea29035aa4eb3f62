// SPDX-License-Identifier: GPL-2.0
/* Sequences of a kernel's events, and the wake-ups that they are. */
#include "test_machine.h"

#include "wakeups.h"

#define PROGRAM 0x1000ull
#define OTHER 0x2000ull

/* Addresses of task_struct. */
#define IDLE 0xffffffff82000000ull
#define TASK 0xffff888003000000ull
#define PEER 0xffff888003002000ull

static struct wakeups *w;

SET_UP
{
	w = wakeups_new();
	return w ? 0 : -1;
}

TEAR_DOWN
{
	wakeups_free(w);
	return 0;
}

static void waking(uint64_t task, uint64_t ns)
{
	assert_int_equal(wakeups_waking(w, task, ns), 0);
}

static void switches(unsigned int cpu, uint64_t prev, uint64_t next, uint64_t ns)
{
	assert_int_equal(wakeups_switch(w, cpu, prev, next, ns), 0);
}

static void falls_asleep(unsigned int cpu, uint64_t task, uint64_t ns)
{
	assert_int_equal(wakeups_sleeps(w, task), 0);
	switches(cpu, task, IDLE, ns);
}

static void runs(unsigned int cpu, uint64_t task, uint64_t ns)
{
	switches(cpu, IDLE, task, ns);
	wakeups_return(w, cpu, PROGRAM);
}

#define LATENCIES_OF(space, out) wakeups_latencies(w, space, out)
#include "latencies_are.h"

FIXTURE_TEST(it_lasts_from_waking_to_the_switch)
{
	falls_asleep(0, TASK, 10);
	waking(TASK, 100);
	assert_latencies(PROGRAM);
	runs(1, TASK, 350);
	assert_latencies(PROGRAM, 250);
}

FIXTURE_TEST(every_sleep_has_one)
{
	for (uint64_t i = 0; i < 3; i++) {
		falls_asleep(0, TASK, 100 * i);
		waking(TASK, 100 * i + 50);
		runs(0, TASK, 100 * i + 51 + i);
	}
	assert_latencies(PROGRAM, 1, 2, 3);
	/* One that was not seen is no longer than the one before. */
	falls_asleep(0, TASK, 400);
	runs(0, TASK, 500);
	assert_latencies(PROGRAM, 1, 2, 3);
}

FIXTURE_TEST(being_preempted_is_none)
{
	falls_asleep(0, TASK, 10);
	waking(TASK, 100);
	runs(0, TASK, 120);
	switches(0, TASK, PEER, 200);
	switches(0, PEER, TASK, 300);
	wakeups_return(w, 0, PROGRAM);
	assert_latencies(PROGRAM, 20);
}

/* It was about to sleep, saw that it need not, went on, and is preempted later. */
FIXTURE_TEST(who_was_woken_before_it_slept_goes_on)
{
	runs(0, TASK, 10);
	waking(TASK, 20);
	switches(0, TASK, IDLE, 30);
	runs(0, TASK, 40);
	assert_latencies(PROGRAM);
	/* Now it sleeps; what came before does not count. */
	waking(TASK, 50);
	falls_asleep(0, TASK, 60);
	waking(TASK, 70);
	runs(0, TASK, 75);
	assert_latencies(PROGRAM, 5);
}

/* Dequeued, or put off by EEVDF, but its CPU still looks for another task. */
FIXTURE_TEST(it_may_be_woken_before_it_has_left_its_cpu)
{
	runs(0, TASK, 10);
	assert_int_equal(wakeups_sleeps(w, TASK), 0);
	waking(TASK, 20);
	switches(0, TASK, IDLE, 30);
	runs(0, TASK, 50);
	assert_latencies(PROGRAM, 30);
	/* That sleep is over: to be preempted is another matter. */
	waking(TASK, 60);
	switches(0, TASK, IDLE, 70);
	runs(0, TASK, 80);
	assert_latencies(PROGRAM, 30);
}

/* A task that slept and was dequeued for good while off its CPU, and then is preempted. */
FIXTURE_TEST(a_sleep_ends_when_the_task_runs)
{
	falls_asleep(0, TASK, 10);
	assert_int_equal(wakeups_sleeps(w, TASK), 0);
	waking(TASK, 20);
	runs(0, TASK, 30);
	waking(TASK, 40);
	switches(0, TASK, IDLE, 50);
	runs(0, TASK, 60);
	assert_latencies(PROGRAM, 10);
}

FIXTURE_TEST(kernel_threads_and_other_programs_are_told_apart)
{
	waking(PEER, 10);
	switches(0, IDLE, PEER, 30);
	wakeups_return(w, 0, OTHER);
	waking(TASK, 20);
	switches(1, IDLE, TASK, 60);
	assert_latencies(PROGRAM);
	assert_latencies(OTHER, 20);
	/* A kernel thread belongs to no program that has not begun. */
	assert_latencies(0);
}

/* A task's program is known at its return, which may come after several wake-ups. */
FIXTURE_TEST(a_task_is_known_later_than_its_wake_up)
{
	falls_asleep(0, TASK, 1);
	waking(TASK, 10);
	switches(0, IDLE, TASK, 30);
	falls_asleep(0, TASK, 40);
	waking(TASK, 50);
	switches(0, IDLE, TASK, 60);
	assert_latencies(PROGRAM);
	wakeups_return(w, 0, PROGRAM);
	assert_latencies(PROGRAM, 20, 10);
}

FIXTURE_TEST(only_the_first_return_after_a_switch_is_asked_for)
{
	assert_false(wakeups_expects_return(w, 0));
	wakeups_return(w, 0, PROGRAM);
	switches(0, IDLE, TASK, 10);
	assert_true(wakeups_expects_return(w, 0));
	assert_false(wakeups_expects_return(w, 1));
	wakeups_return(w, 0, PROGRAM);
	assert_false(wakeups_expects_return(w, 0));
	switches(0, TASK, PEER, 20);
	assert_true(wakeups_expects_return(w, 0));
}

/* The kernel uses a task_struct again; its first run is no wake-up. */
FIXTURE_TEST(a_new_task_is_not_the_one_before)
{
	falls_asleep(0, TASK, 1);
	waking(TASK, 10);
	runs(0, TASK, 15);
	assert_int_equal(wakeups_sleeps(w, TASK), 0);
	waking(TASK, 16);
	switches(0, TASK, IDLE, 20);
	assert_int_equal(wakeups_new_task(w, TASK), 0);
	switches(0, IDLE, TASK, 30);
	wakeups_return(w, 0, OTHER);
	falls_asleep(0, TASK, 40);
	waking(TASK, 50);
	switches(0, IDLE, TASK, 52);
	wakeups_return(w, 0, OTHER);
	assert_latencies(PROGRAM, 5);
	assert_latencies(OTHER, 2);
}

FIXTURE_TEST(clocks_of_two_cpus_may_differ)
{
	falls_asleep(0, TASK, 1);
	waking(TASK, 100);
	runs(1, TASK, 90);
	assert_latencies(PROGRAM, 0);
}

FIXTURE_TEST(a_region_begins_without_any)
{
	falls_asleep(0, TASK, 1);
	waking(TASK, 10);
	runs(0, TASK, 15);
	falls_asleep(0, PEER, 20);
	waking(PEER, 25);
	wakeups_begin(w);
	assert_latencies(PROGRAM);
	switches(0, TASK, PEER, 30);
	falls_asleep(0, PEER, 40);
	waking(PEER, 45);
	runs(0, PEER, 55);
	assert_latencies(PROGRAM, 10);
}

FIXTURE_TEST(there_may_be_many_tasks)
{
	struct latencies l = { 0 };

	for (uint64_t i = 0; i < 1000; i++)
		waking(TASK + i * 37 % 1000 * 0x1000, i);
	for (uint64_t i = 0; i < 1000; i++)
		runs(i % 64, TASK + i * 37 % 1000 * 0x1000, 2 * i);
	assert_int_equal(wakeups_latencies(w, PROGRAM, &l), 0);
	assert_int_equal(l.n, 1000);
	for (size_t i = 0; i < l.n; i++)
		assert_int_equal(l.ns[i], i);
	latencies_free(&l);
}

RUN_TESTS(NULL, NULL)
