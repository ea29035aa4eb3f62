// SPDX-License-Identifier: GPL-2.0
/* A wait for events looks once in a millisecond and still finds them; a sleep waits for turns. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "unit.h"
#include "pace.h"

#define LOOKS 50u
#define MS 1000000ull

static int ends[2];

static uint64_t now(void)
{
	struct timespec time;

	assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &time), 0);
	return (uint64_t)time.tv_sec * 1000 * MS + (uint64_t)time.tv_nsec;
}

static int open_pipe(UNIT_STATE)
{
	return pipe(ends) || write(ends[1], "x", 1) != 1;
}

static int close_pipe(UNIT_STATE)
{
	return close(ends[0]) || close(ends[1]);
}

/* How long it takes to look so often for what is there already. */
static uint64_t look_with_poll(int timeout)
{
	struct pollfd fd = { .fd = ends[0], .events = POLLIN };
	uint64_t begun = now();

	for (unsigned int i = 0; i < LOOKS; i++) {
		assert_int_equal(poll(&fd, 1, timeout), 1);
		assert_int_equal(fd.revents, POLLIN);
	}
	return now() - begun;
}

static uint64_t look_with_ppoll(const struct timespec *timeout)
{
	struct pollfd fd = { .fd = ends[0], .events = POLLIN };
	uint64_t begun = now();

	for (unsigned int i = 0; i < LOOKS; i++) {
		assert_int_equal(ppoll(&fd, 1, timeout, NULL), 1);
		assert_int_equal(fd.revents, POLLIN);
	}
	return now() - begun;
}

TEST(who_waits_looks_once_in_a_millisecond)
{
	const struct timespec second = { .tv_sec = 1 };

	assert_true(look_with_poll(-1) >= (LOOKS - 1) * MS);
	assert_true(look_with_poll(1000) >= (LOOKS - 1) * MS);
	assert_true(look_with_ppoll(NULL) >= (LOOKS - 1) * MS);
	assert_true(look_with_ppoll(&second) >= (LOOKS - 1) * MS);
}

/* The least of some tries: this process may have been kept from its CPU. */
TEST(who_does_not_wait_is_not_kept)
{
	const struct timespec none = { 0 };
	uint64_t least = UINT64_MAX;

	for (unsigned int i = 0; i < 20; i++) {
		uint64_t took = look_with_poll(0) + look_with_ppoll(&none);

		least = took < least ? took : least;
	}
	assert_true(least < LOOKS * MS);
}

static uint64_t sleep_for(uint64_t ns)
{
	const struct timespec time = { .tv_nsec = (long)ns };
	uint64_t begun = now();

	assert_int_equal(nanosleep(&time, NULL), 0);
	return now() - begun;
}

TEST(a_sleep_takes_its_time_before_the_clock_begins)
{
	uint64_t least = UINT64_MAX;

	pace_turns = 0;
	for (unsigned int i = 0; i < 20; i++) {
		uint64_t took = sleep_for(MS);

		assert_true(took >= MS);
		least = took < least ? took : least;
	}
	assert_true(least < 100 * MS);
}

static _Atomic bool slept;

static void *sleep_shortly(void *unused)
{
	sleep_for(MS);
	slept = true;
	return unused;
}

TEST(a_sleep_takes_until_turns_have_ended)
{
	pthread_t thread;

	pace_turns = 1;
	slept = false;
	assert_int_equal(pthread_create(&thread, NULL, sleep_shortly, NULL), 0);
	for (unsigned int i = 0; i < 2; i++) {
		look_with_poll(-1);
		assert_false(slept);
		pace_turns++;
	}
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(slept);
}

TEST(a_sleep_ends_though_no_turn_does)
{
	pace_turns = 1;
	assert_true(sleep_for(MS) >= 1000 * MS);
}

TEST(a_time_that_is_none_is_told_of)
{
	const struct timespec none = { .tv_nsec = -1 };

	assert_int_equal(nanosleep(&none, NULL), -1);
	assert_int_equal(errno, EINVAL);
}

TEST(nothing_comes_in_the_time_that_it_is_given)
{
	struct pollfd fd = { .fd = ends[0], .events = POLLIN };
	const struct timespec brief = { .tv_nsec = 2 * MS };
	char byte;

	assert_int_equal(read(ends[0], &byte, 1), 1);
	assert_int_equal(poll(&fd, 1, 2), 0);
	assert_int_equal(ppoll(&fd, 1, &brief, NULL), 0);
}

RUN_TESTS(open_pipe, close_pipe)
